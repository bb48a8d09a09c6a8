// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/log.hpp>

namespace atelier::core {

/// Returns the least severe level that this process's log writes.
log_level log_threshold() noexcept;

/// Makes the running log write lines of `level` and above from now on; `off`
/// silences it until the next call.
/// Errors:  ec::invalid_argument for an unknown level, ec::unavailable if no
///          log runs because it was off when the process began.
/// Threads: any.
result<void> set_log_threshold(std::string_view level);

} // namespace atelier::core
