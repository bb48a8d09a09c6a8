// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/device/executor.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace atelier::gpu::detail {

/// What a device's thread does with its rows. What goes wrong with a row
/// becomes that row's failure; what is thrown fails all rows that were worked
/// on.
/// Threads: one, the device's.
class row_engine {
public:
  virtual ~row_engine() = default;

  /// Called once on the device's thread, before anything else.
  virtual void begin() {}

  virtual void open(const open_job& job) = 0;

  virtual void close(core::ticket who) = 0;

  /// Returns how many steps all sound rows of `who` can run together, at most
  /// `most`; 0 where there is no sound row.
  virtual uint32_t steps_left(const std::vector<core::ticket>& who,
                              uint32_t most) = 0;

  /// Runs one step of all sound rows of `who`, publishing as each asks.
  virtual void step(const std::vector<core::ticket>& who) = 0;

  /// Returns how far each of `who` is; one that is not open has failed.
  virtual std::vector<row_report> report(
    const std::vector<core::ticket>& who) = 0;

  /// Does the next part of making a row's picture. Returns what came of it with
  /// the last one, its times left to the caller; none before.
  virtual std::optional<decode_report> decode_part(core::ticket who) = 0;
};

} // namespace atelier::gpu::detail
