// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/actors/scheduler/routing.hpp>

#include <optional>
#include <vector>

namespace atelier::actors {

/// Makes the order of a row's stage for a worker, and gives it the slots.
/// Threads: one at a time.
class order_maker {
public:
  /// @pre the parts outlive it
  order_maker(parts& of, routing& routes);

  /// Makes the order of the stage at which a row is; nothing, and no change, if
  /// too few slots are available.
  std::optional<work> make(core::ticket who, row& r, const worker& w);

private:
  std::optional<work> of_stage(core::ticket who, const row& r, const worker& w);
  std::optional<work> to_denoise(core::ticket who, row& r, const worker& w);
  /// Orders states to be kept on the way, in as many slots as are available.
  std::vector<gpu::state_capture> captures(core::ticket who, row& r,
                                           const worker& w);
  /// Makes a row run by a variant that its worker hosts, from earlier work if
  /// its route says so.
  void settle_start(row& r, const worker& w);

  const scheduler_config& config_;
  const stage_path& path_;
  slots& slots_;
  records& records_;
  const slot_shares& shares_;
  routing& routing_;
};

} // namespace atelier::actors
