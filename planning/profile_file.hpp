// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/profile.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace atelier::planning {

/// The maximum size of a profile file, in bytes.
inline constexpr size_t most_profile_bytes = size_t{64} << 20;

/// Returns the name of that kind of ladder in profile files.
std::string_view name_of(ladder_kind kind);

/// Writes a profile as JSON, {"format": "atelier.profile", "version": 1, ...}:
/// times in milliseconds, sizes in bytes and pixels. docs/profile-file.md
/// explains each field.
std::string to_json(const profile& x);

/// Reads the output of to_json; absent optional fields have their defaults.
/// Errors: ec::bad_payload with every fault at once, a line each: `where`, the
/// place in the document, the value and the allowed values.
core::result<profile> parse_profile(std::string_view json,
                                    std::string_view where);

} // namespace atelier::planning
