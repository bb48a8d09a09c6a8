// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace atelier::planning::argus {

/// A worker as the choice sees it.
struct candidate {
  /// The index of the level that it hosts.
  uint32_t level = 0;
  /// The number of requests that wait for it or run on it.
  uint64_t requests = 0;
  /// The seconds of one request there.
  double seconds = 0;
  /// The time when it was last chosen, as any rising count; 0: never.
  uint64_t chosen = 0;
};

enum class wait_rule : uint8_t {
  /// R t: all idle workers are equal, whatever their speed.
  /// Source: Argus, Eq. 3.
  queue_only,
  /// (R + 1) t: the request's own time also counts.
  with_own,
};

/// Returns the worker on `level` where a request waits least; among equal ones
/// the one chosen longest ago, then the first. If no worker hosts the level, it
/// returns one on the nearest slower level that has a worker, otherwise on the
/// nearest faster one; nothing without workers.
std::optional<size_t> choose_worker(std::span<const candidate> workers,
                                    uint32_t level, wait_rule rule);

} // namespace atelier::planning::argus
