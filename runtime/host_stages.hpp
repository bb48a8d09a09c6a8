// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/stages/standard.hpp>
#include <atelier/core/result.hpp>
#include <atelier/extensions.hpp>

#include <vector>

namespace atelier::runtime {

/// Returns a host's stages, each behind a border: its row is read once, and an
/// exception of its functions is an error of the request, or means that there
/// is nothing to do.
/// Errors: ec::bad_config with every fault, a line each: a stage that is null,
/// whose row() throws, or whose name is not 1..64 of a-z, A-Z, 0-9, _, - and a
/// dot.
core::result<std::vector<actors::added_stage>> host_stages(
  const std::vector<host_stage>& own);

} // namespace atelier::runtime
