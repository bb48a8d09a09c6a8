// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/job_journal.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http::detail {

using file_bytes = std::vector<uint8_t>;

/// What is wanted of a job, in JSON. Files of images are not in it: it names
/// them by their place in `files`, where each stands once.
std::string wanted_text(const job_request& x,
                        std::vector<std::span<const uint8_t>>& files);

/// The same back, but for what a journal keeps beside it: id, owner and
/// idempotency key. Throws nlohmann's exceptions, and std::out_of_range for a
/// file that is not there or a job without pictures.
/// @param files null: without them, for a job that ended
job_request read_wanted(std::string_view text,
                        const std::vector<file_bytes>* files);

/// How a job ended, in JSON; the number is not in it.
std::string end_text(const journalled_end& x);

/// Throws nlohmann's exceptions, and std::out_of_range for a state that is
/// none.
journalled_end read_end(std::string_view text);

/// In microseconds since 1970.
int64_t wall_number(std::chrono::system_clock::time_point x);
std::chrono::system_clock::time_point read_wall(int64_t x);

} // namespace atelier::runtime::http::detail
