// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/share_lead.hpp>

#include <cstdint>
#include <map>
#include <span>

namespace atelier::gpu {

/// The longest that a batch waits for decoding between two of its steps, in
/// durations of a step. With 1, an image that takes little longer than a step
/// waits for another step, which costs it more than it saves the others: with
/// the shipped `turbo`, the mean latency was measured to rise by 19 %
/// (bench/RESULTS.md).
inline constexpr int decode_steps = 2;

/// Returns whether another part of a decoding may run before the next step of a
/// batch. At least one part runs between two steps, so that images are
/// completed. More parts run while they together take no longer than
/// `decode_steps` steps: a batch is slowed to a third of its pace at most, and
/// none of its steps waits for a whole decoding that takes longer.
/// @param spent time spent on parts since the last step
/// @param part expected duration of the next part: that of the last one
/// @param step duration of the last step; 0 before the first
constexpr bool may_decode_more(core::timespan spent, core::timespan part,
                               core::timespan step) {
  return spent.count() == 0 || spent + part <= decode_steps * step;
}

/// Chooses the image that a device decodes next, and whether it does so before
/// its next step. Pure, without a clock.
/// Tenants are compared by their time of the device, divided by their shares:
/// their rows' parts of steps, and their parts of images; a larger share has a
/// lead (share_lead.hpp), its turn being `steps_before_others` steps. The image
/// of the tenant with the least time goes first. An image of a tenant that had
/// more time than the tenants of the running rows waits for
/// `steps_before_others` steps: otherwise one image would wait for all eight of
/// another tenant. An image of a tenant that had less time than those of all
/// running rows, and has a larger share than each, is decoded without a step
/// between its parts. A tenant without rows and images saves no time; a new one
/// is credited with the last step, for which it may have had to wait. Threads:
/// one at a time.
class decode_turns {
public:
  static constexpr uint32_t steps_before_others = 4;

  /// Notes a new row, and its tenant's share from now on; 0 counts as 1.
  void enter(core::ticket who, core::tenant_id whose, uint32_t share = 1);

  /// Notes that a row is gone; it has no effect on an unknown row.
  void leave(core::ticket who);

  /// Notes the duration of a step of these rows.
  void ran(std::span<const core::ticket> rows, core::timespan took);

  /// Notes the duration of a part of an image.
  void decoded(core::ticket who, core::timespan took);

  /// Returns the index of the image that goes first.
  /// @pre `images` is not empty and in order of arrival
  size_t first(std::span<const core::ticket> images) const;

  /// Returns whether a part of this image may run before the next step of these
  /// rows. The other parameters are those of may_decode_more.
  bool may_go(core::ticket image, std::span<const core::ticket> rows,
              core::timespan spent, core::timespan part,
              core::timespan step) const;

private:
  struct account {
    /// Nanoseconds, divided by the share.
    double used = 0;
    double share = 1;
    uint32_t rows = 0;
  };

  core::tenant_id tenant_of(core::ticket who) const;
  void use(core::ticket who, double nanoseconds);
  planning::share_lead lead() const;
  double standing(core::tenant_id whose, const planning::share_lead& of) const;
  double share_of(core::tenant_id whose) const;

  std::map<core::ticket, core::tenant_id> rows_;
  std::map<core::tenant_id, account> accounts_;
  core::timespan last_step_{0};
  /// Steps since the last part of an image.
  uint32_t steps_ = 0;
};

} // namespace atelier::gpu
