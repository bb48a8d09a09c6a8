// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/json_reader.hpp>
#include <atelier/planning/profile.hpp>

#include <array>
#include <string_view>

namespace atelier::planning::detail {

/// The keys of a profile file that version 2 added.
inline constexpr std::array<std::string_view, 6> section_keys{
  "idle_watts", "ladders", "cascades", "reuse", "masked", "stages"};

/// Returns whether a profile has anything that version 1 cannot express.
bool has_sections(const profile& x);

void write_sections(const profile& x, json& into);

/// Reads the sections that are present; the variants must have been read
/// before.
void read_sections(json_reader& r, const json& document, profile& into);

} // namespace atelier::planning::detail
