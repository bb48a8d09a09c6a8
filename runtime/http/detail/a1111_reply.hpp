// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/a1111_call.hpp>
#include <atelier/runtime/http/detail/replies.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::runtime::http::detail {

/// What a reply needs of its call.
struct a1111_echo {
  bool send_images = true;
  uint32_t batch_size = 1;
  /// The call as JSON.
  std::string parameters;
  /// The first image wanted, without its files.
  generation first;
};

a1111_echo echo_of(const a1111_call& call);

/// The reply to a call whose job ended as it should or was interrupted: then it
/// has what was done, and where that is nothing, the newest preview in the
/// image's size.
/// @param files the images' files, as they are handed over
reply_message a1111_reply(const job_view& v, const a1111_echo& how,
                          const std::vector<std::vector<uint8_t>>& files);

/// "20251122031500", in UTC, as the web UI stamps its jobs.
std::string stamp_of(std::chrono::system_clock::time_point x);

} // namespace atelier::runtime::http::detail
