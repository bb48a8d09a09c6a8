// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::ipc {

/// What a look at this user's arenas found.
struct sweep_result {
  std::vector<std::string> removed;
  /// Of all finished arenas seen, dead or alive.
  core::epoch highest;
};

/// Removes this user's objects whose owner is dead, after the processes in
/// their tables are gone; waits at most `patience` for those in all. An object
/// whose lock is held is never removed; where its name tells of a dead owner,
/// the lock's release is waited for too.
/// Errors: ec::io_failed where the objects cannot be listed.
core::result<sweep_result> sweep_stale_segments(core::timespan patience);

} // namespace atelier::ipc
