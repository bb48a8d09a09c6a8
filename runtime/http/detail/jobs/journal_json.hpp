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

/// Returns a job's request as JSON. Image files are not part of the text, which
/// refers to them by their index in `files`, where each file appears once.
std::string wanted_text(const job_request& x,
                        std::vector<std::span<const uint8_t>>& files);

/// Reads the text of wanted_text(), without the values that a journal stores
/// separately: id, owner and idempotency key. Throws nlohmann's exceptions, and
/// std::out_of_range for a missing file or a job without images.
/// @param files null: read without files, for an ended job
job_request read_wanted(std::string_view text,
                        const std::vector<file_bytes>* files);

/// Returns the end of a job as JSON, without the number.
std::string end_text(const journalled_end& x);

/// Reads the text of end_text(). Throws nlohmann's exceptions, and
/// std::out_of_range for an invalid state.
journalled_end read_end(std::string_view text);

/// Returns microseconds since 1970.
int64_t wall_number(std::chrono::system_clock::time_point x);
std::chrono::system_clock::time_point read_wall(int64_t x);

} // namespace atelier::runtime::http::detail
