// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

namespace atelier::runtime::cli {

/// Tells people why a command ends, and returns what the shell is told: that of
/// an interruption for ec::cancelled, else the code's own.
exit_status refuse(const console& terminal, const core::error& why);

} // namespace atelier::runtime::cli
