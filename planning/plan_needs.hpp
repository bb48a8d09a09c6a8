// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/profile.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace atelier::planning {

/// Checks that a server can execute a plan: no leg of a route with a share
/// starts from a stored template or, if the server keeps no earlier work, from
/// a stored latent or image; and no leg that starts from noise skips steps. The
/// policy of its memory is in all_policies or in `more`.
/// Errors: ec::bad_config with every fault at once, a line each: `where`, the
/// leg and its field, the value, and the reason.
core::result<void> check_needs(const saved_plan& x, std::string_view where,
                               const profile& known, bool keeps_work,
                               const policy_list& more = {});

/// A route whose requests skip steps by starting from an earlier state.
struct skipping_route {
  std::string name;
  /// The worker's level says how many steps are skipped.
  bool by_worker = false;
};

/// Returns a route by which a policy's plans share requests out under load and
/// that skips steps: fewer workers suffice if they are skipped. None if its
/// plans do not count with skipped steps.
std::optional<skipping_route> planned_skip(const policy& by,
                                           const profile& known);

} // namespace atelier::planning
