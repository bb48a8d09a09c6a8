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

/// A parsed call of OpenAI's image API.
struct openai_call {
  job_request job;
  bool as_url = false;
  bool stream = false;
  uint32_t partial_images = 0;
  /// The next three values are copied into replies.
  std::string background = "opaque";
  std::string quality = "auto";
  std::string format = "png";
};

/// Reads a call with a JSON or form body, and drops the body. Returns the error
/// reply if the call is invalid.
std::variant<openai_call, reply_message> read_openai_call(
  exchange& x, openai_kind kind, const api_context& with);

} // namespace atelier::runtime::http::detail
