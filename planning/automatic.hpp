// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile.hpp>

#include <string_view>

namespace atelier::planning {

/// The name that stands for the policy that policy_for() chooses.
inline constexpr std::string_view automatic_name = "auto";

/// Returns whether a profile says how its variants stand in for each other: by
/// a ladder, a cascade, or the reuse of earlier work.
bool relates_variants(const profile& known);

/// Returns the name of the policy that serves these variants where nobody
/// chooses one: `atelier`, which hosts by demand, for several models that
/// nothing relates and whose edits nothing approximates, else `vanilla`. With
/// either an image comes from the variant that is asked for.
std::string_view policy_for(const profile& known);

/// Returns the policy's name that `asked` stands for: itself, or for
/// automatic_name what policy_for() chooses.
std::string_view policy_named(std::string_view asked, const profile& known);

} // namespace atelier::planning
