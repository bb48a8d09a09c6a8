// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/profile.hpp>

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

} // namespace atelier::planning
