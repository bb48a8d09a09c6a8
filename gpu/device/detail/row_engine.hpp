// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/device/executor.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace atelier::gpu::detail {

/// Performs the work of a device's thread on its rows. An error in a row fails
/// that row; an exception fails all rows being processed.
/// Threads: one, the device's.
class row_engine {
public:
  virtual ~row_engine() = default;

  /// Called once on the device's thread, before any other function.
  virtual void begin() {}

  virtual void open(const open_job& job) = 0;

  virtual void close(core::ticket who) = 0;

  /// Returns how many steps all sound rows of `who` can run together, at most
  /// `most`, or 0 if no row is sound.
  virtual uint32_t steps_left(const std::vector<core::ticket>& who,
                              uint32_t most) = 0;

  /// Runs one step of all sound rows of `who`; each publishes as requested.
  virtual void step(const std::vector<core::ticket>& who) = 0;

  /// Returns the progress of each row of `who`; a row that is not open is
  /// reported as failed.
  virtual std::vector<row_report> report(
    const std::vector<core::ticket>& who) = 0;

  /// Returns whether the decoding of a row's image may begin beside those that
  /// have begun. Not called before one has.
  virtual bool may_begin(core::ticket) {
    return true;
  }

  /// Decodes the next part of a row's image. Returns the result after the last
  /// part, without its times, which the caller sets; nothing before.
  virtual std::optional<decode_report> decode_part(core::ticket who) = 0;
};

} // namespace atelier::gpu::detail
