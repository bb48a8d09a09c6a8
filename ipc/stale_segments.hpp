// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::ipc {

/// The result of a search for this user's arenas.
struct sweep_result {
  std::vector<std::string> removed;
  /// The highest epoch of all finished arenas, dead or alive.
  core::epoch highest;
};

/// Removes this user's objects whose owner is dead, after the processes in
/// their tables are gone, and waits at most `patience` for all of those. An
/// object whose lock is held is never removed; if its name shows that its owner
/// is dead, the function also waits for the lock's release.
/// Errors: ec::io_failed if the objects cannot be listed.
core::result<sweep_result> sweep_stale_segments(core::timespan patience);

} // namespace atelier::ipc
