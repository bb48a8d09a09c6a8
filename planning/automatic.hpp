// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile.hpp>

#include <string_view>

namespace atelier::planning {

/// The name that stands for the choice of policy_for().
inline constexpr std::string_view automatic_name = "auto";

/// Returns whether a profile defines how its variants replace each other: by a
/// ladder, a cascade, or the reuse of earlier work.
bool relates_variants(const profile& known);

/// Returns the name of the default policy for these variants: `atelier`, which
/// hosts by demand, for several unrelated models whose edits are not
/// approximated, otherwise `vanilla`. With either policy, the requested variant
/// draws the image.
std::string_view policy_for(const profile& known);

/// Returns the policy that `asked` stands for: itself, or for automatic_name
/// the choice of policy_for().
std::string_view policy_named(std::string_view asked, const profile& known);

} // namespace atelier::planning
