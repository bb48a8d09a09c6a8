// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace atelier::planning::argus {

/// A worker as the choice sees it.
struct candidate {
  /// Index of the level that it hosts.
  uint32_t level = 0;
  /// Requests that wait for it or run on it.
  uint64_t requests = 0;
  /// Seconds of one request there.
  double seconds = 0;
  /// When it was chosen last, on any rising count; 0: never.
  uint64_t chosen = 0;
};

enum class wait_rule : uint8_t {
  /// R t: all idle workers are alike, whatever their speed.
  /// Source: Argus, Eq. 3.
  queue_only,
  /// (R + 1) t: what the request itself will take counts too.
  with_own,
};

/// Returns the worker on `level` where a request waits least; of equal ones the
/// one chosen longest ago, then the first. Where nobody hosts the level: on the
/// nearest slower level that has a worker, else on the nearest faster one.
/// Nothing where there is no worker.
std::optional<size_t> choose_worker(std::span<const candidate> workers,
                                    uint32_t level, wait_rule rule);

} // namespace atelier::planning::argus
