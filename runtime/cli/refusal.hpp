// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

namespace atelier::runtime::cli {

/// Prints why a command ends and returns its exit status: that of an
/// interruption for ec::cancelled, otherwise that of the error's code.
exit_status refuse(const console& terminal, const core::error& why);

} // namespace atelier::runtime::cli
