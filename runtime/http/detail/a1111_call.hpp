// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/api_context.hpp>
#include <atelier/runtime/http/detail/field_reader.hpp>
#include <atelier/runtime/http/detail/inpaint.hpp>
#include <atelier/runtime/http/exchange.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

namespace atelier::runtime::http::detail {

/// What a caller set by POST /sdapi/v1/options, of what is honoured.
struct a1111_options {
  /// A model or a variant; empty: the first.
  std::string sd_model_checkpoint;
  std::string samples_format = "png";
  uint32_t jpeg_quality = 95;
  /// After every so many steps a preview is made.
  uint32_t show_progress_every_n_steps = 10;
  bool live_previews_enable = true;
  /// Those of hints.hpp, as they were set: images say that they have no effect.
  json hints = json::object();
};

/// A call of txt2img or img2img, understood.
struct a1111_call {
  job_request what;
  bool send_images = true;
  uint32_t batch_size = 1;
  uint32_t quality = 95;
  /// The call without its images.
  json echo;
  /// Null where the picture is handed over as it was made.
  std::shared_ptr<const inpaint_plan> plan;
};

enum class a1111_kind : uint8_t { txt2img, img2img };

/// Reads a call; its body is dropped. Returns the reply where it is faulty.
/// That of img2img may decode and scale images.
std::variant<a1111_call, reply_message> read_a1111_call(
  exchange& x, a1111_kind kind, const a1111_options& set,
  const api_context& with);

/// Sets the model or variant that the web UI's clients call `name`. False where
/// there is none.
bool choose_checkpoint(const std::vector<variant_status>& known,
                       const std::string& name, generation& into);

} // namespace atelier::runtime::http::detail
