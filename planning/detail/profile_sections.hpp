// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/json_reader.hpp>
#include <atelier/planning/profile.hpp>

#include <array>
#include <string_view>

namespace atelier::planning::detail {

/// Keys of a profile file from version 2 on.
inline constexpr std::array<std::string_view, 5> section_keys{
  "idle_watts", "ladders", "cascades", "reuse", "masked"};

/// Whether a profile says anything that version 1 has no words for.
bool has_sections(const profile& x);

void write_sections(const profile& x, json& into);

/// Reads the sections there are; the variants are there already.
void read_sections(json_reader& r, const json& document, profile& into);

} // namespace atelier::planning::detail
