// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <map>
#include <span>

namespace atelier::gpu {

/// Whose picture a device decodes next, and whether before its next step: pure,
/// no clock.
///
/// Tenants are compared by the time of the device that they were given, each
/// for its rows of a step and its parts of a picture. The picture of the one
/// with the least goes first. A picture of a tenant that had more than those
/// whose rows run waits for `steps_before_others` steps: else one image beside
/// eight of another tenant's would wait for all of these.
///
/// Nobody saves up time while nothing of theirs is there; who comes has the
/// last step to the good, which it may have had to wait for.
/// Threads: one at a time.
class decode_turns {
public:
  static constexpr uint32_t steps_before_others = 4;

  /// A row is there.
  void enter(core::ticket who, core::tenant_id whose);

  /// A row is gone. Nothing where it is not there.
  void leave(core::ticket who);

  /// Rows had a step of so long.
  void ran(std::span<const core::ticket> rows, core::timespan took);

  /// A part of a picture took so long.
  void decoded(core::ticket who, core::timespan took);

  /// Returns the index of the picture that goes first.
  /// @pre `pictures` is not empty; they came in this order
  size_t first(std::span<const core::ticket> pictures) const;

  /// Returns whether a part of this picture may run before the next step of
  /// these rows (decode_share.hpp, where the rest is described).
  bool may_go(core::ticket picture, std::span<const core::ticket> rows,
              core::timespan spent, core::timespan part,
              core::timespan step) const;

private:
  struct account {
    /// Nanoseconds.
    double used = 0;
    uint32_t rows = 0;
  };

  core::tenant_id tenant_of(core::ticket who) const;
  double used_by(core::tenant_id whose) const;

  std::map<core::ticket, core::tenant_id> rows_;
  std::map<core::tenant_id, account> accounts_;
  core::timespan last_step_{0};
  /// Steps since the last part of a picture.
  uint32_t steps_ = 0;
};

} // namespace atelier::gpu
