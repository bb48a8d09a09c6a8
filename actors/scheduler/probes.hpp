// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <optional>

namespace atelier::actors {

/// Numbers the searches that no request waits for, and decides when the next
/// one is due: at most one is open. This part of the scheduler knows nothing
/// else.
/// Threads: one at a time.
class probes {
public:
  /// Whether a probe should begin: none is open, and the last one is `every`
  /// ago.
  bool is_due(core::timespan every, core::time_point now) const;

  /// Begins a probe, or tries to: another one is due only later. Returns its
  /// number.
  core::request_id next(core::time_point now);

  /// A worker searches for the probe that `next` returned last.
  void begin(core::time_point now);

  /// Ends the open probe if it has this number. Returns when it began; nothing
  /// if it was not open.
  std::optional<core::time_point> end(core::request_id id);

  /// Ends the open probe if it has lasted this long, and does the same.
  std::optional<core::time_point> end_late(core::timespan most,
                                           core::time_point now);

  /// Whether a number is that of a probe; those of requests never are.
  static bool is_probe(core::request_id id);

private:
  uint64_t count_ = 0;
  core::time_point last_;
  /// When the open probe began.
  std::optional<core::time_point> since_;
};

} // namespace atelier::actors
