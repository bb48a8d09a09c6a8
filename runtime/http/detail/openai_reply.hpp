// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/openai_call.hpp>
#include <atelier/runtime/http/detail/replies.hpp>

#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

/// Values for a call's replies and events, independent of the job's result.
struct openai_echo {
  bool as_url = false;
  std::string background;
  std::string quality;
  std::string format;
  /// Size of the texts of all images.
  uint64_t text_bytes = 0;
  /// Number of input images.
  uint32_t sources = 0;
  /// "http://HOST".
  std::string base;
};

openai_echo echo_of(const openai_call& call, std::string base);

/// Returns the reply to a call whose job is completed.
reply_message openai_reply(const job_view& v, const openai_echo& how);

/// Returns the data of the event `type`, which contains a preview of the job.
/// @param encoded the preview's file in base64
std::string partial_image_event(std::string_view type, const job_view& v,
                                uint32_t index, const openai_echo& how,
                                std::string_view encoded);

/// Returns the data of the event `type`, which contains the image of the job.
std::string completed_event(std::string_view type, const job_view& v,
                            const openai_echo& how);

/// Returns the data of an error within a stream.
std::string error_event(const failure& why);

} // namespace atelier::runtime::http::detail
