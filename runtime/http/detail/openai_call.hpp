// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/api_context.hpp>
#include <atelier/runtime/http/exchange.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace atelier::runtime::http::detail {

enum class openai_kind : uint8_t { generation, edit, variation };

/// A call of OpenAI's images, understood.
struct openai_call {
  job_request what;
  bool as_url = false;
  bool stream = false;
  uint32_t partial_images = 0;
  /// As they stand in replies.
  std::string background = "opaque";
  std::string quality = "auto";
  std::string format = "png";
};

/// Reads a call: its body is JSON or a form, and is dropped. Returns the reply
/// where it is faulty.
std::variant<openai_call, reply_message> read_openai_call(
  exchange& x, openai_kind kind, const api_context& with);

} // namespace atelier::runtime::http::detail
