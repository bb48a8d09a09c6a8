// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/profile.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace atelier::planning {

/// Most bytes of a profile file.
inline constexpr size_t most_profile_bytes = size_t{64} << 20;

/// Returns what profile files call a ladder of that kind.
std::string_view name_of(ladder_kind kind);

/// Writes a profile as JSON, {"format": "atelier.profile", "version": 1, ...}:
/// times in milliseconds, sizes in bytes and pixels. docs/profile-file.md says
/// what each field means.
std::string to_json(const profile& x);

/// Reads what to_json writes; a field that may be absent has its default.
/// Errors: ec::bad_payload with every fault at once, a line each: `where`, the
///         place in the document, the value and what it must be.
core::result<profile> parse_profile(std::string_view json,
                                    std::string_view where);

} // namespace atelier::planning
