// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/api_context.hpp>
#include <atelier/runtime/http/detail/a1111/inpaint.hpp>
#include <atelier/runtime/http/detail/field_reader.hpp>
#include <atelier/runtime/http/exchange.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace atelier::runtime::http::detail {

/// The supported options that a client set with POST /sdapi/v1/options.
struct a1111_options {
  /// The name of a model or a variant; empty selects the first.
  std::string sd_model_checkpoint;
  std::string samples_format = "png";
  uint32_t jpeg_quality = 95;
  /// Number of steps between two previews.
  uint32_t show_progress_every_n_steps = 10;
  bool live_previews_enable = true;
  /// The fields of hints.hpp as they were set. Images note that they have no
  /// effect.
  json hints = json::object();
  /// The fields of a1111_prompt_options as they were set.
  json prompts = json::object();
};

/// The web UI's options about how prompts are read.
inline constexpr std::string_view a1111_prompt_options[] = {
  "CLIP_stop_at_last_layers", "emphasis"};

/// A parsed txt2img or img2img call.
struct a1111_call {
  job_request job;
  bool send_images = true;
  uint32_t batch_size = 1;
  uint32_t quality = 95;
  /// The call without its images.
  json echo;
  /// The caller's options from now on; none: as they are.
  std::optional<a1111_options> options;
  /// Null if the image is returned as it was made.
  std::shared_ptr<const inpaint_plan> plan;
};

enum class a1111_kind : uint8_t { txt2img, img2img };

/// Reads a call and drops its body. Returns the error reply if the call is
/// invalid. An img2img call may decode and scale images.
std::variant<a1111_call, reply_message> read_a1111_call(
  exchange& x, a1111_kind kind, const a1111_options& set,
  const api_context& with);

/// Reads these options.
void read_prompt_options(field_reader& r, generation& into);

/// Sets the model or variant that clients of the web UI call `name`. Returns
/// false if the name is unknown.
bool choose_checkpoint(const std::vector<variant_status>& known,
                       const std::string& name, generation& into);

} // namespace atelier::runtime::http::detail
