// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/step_table.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

/// The devices' predicted work, and when it will be done: pure, no clock.
///
/// Work counts for the variant that it waits for. Variants that some worker
/// hosts together are done by the same workers: a fluid model spreads the work
/// of such a group evenly over its workers.
/// Every change costs constant time but `see`, which costs all hostings.
class backlog {
public:
  explicit backlog(size_t variants);

  /// Takes the workers as they are now.
  void see(const cluster_view& there);

  void add(core::variant_id variant, core::timespan work);

  /// @pre so much was added before
  void remove(core::variant_id variant, core::timespan work);

  /// Returns when the work that competes with `variant` will be done; nothing
  /// where nobody hosts it, so that nothing can be predicted.
  std::optional<core::timespan> wait(core::variant_id variant) const;

  /// Returns the longest of these; nothing where nobody hosts anything.
  std::optional<core::timespan> longest_wait() const;

  /// Returns the workers of `variant`, by kind of device.
  const std::vector<device_group>& hosts_of(core::variant_id variant) const;

  /// Returns the rows that share a step on a worker of `variant`, when it has
  /// enough of them; 1 where nobody hosts it.
  uint32_t batch_of(core::variant_id variant) const;

  /// All work, for checks.
  core::timespan work() const;

private:
  /// Variants that are hosted together.
  struct group {
    uint32_t workers = 0;
    uint32_t max_batch = 0;
    core::timespan work{0};
  };

  std::vector<core::timespan> by_variant_;
  /// Index of a variant's group.
  std::vector<size_t> group_of_;
  std::vector<group> groups_;
  /// By variant.
  std::vector<std::vector<device_group>> hosts_;
};

/// How much slower than predicted the devices run each variant, of late, by
/// kind of device; pure.
class measured_pace {
public:
  explicit measured_pace(size_t variants);

  /// Notes that steps predicted to take `predicted` on devices of that kind
  /// took `took`. Without effect where one of them is not above 0.
  void note(core::variant_id variant, std::string_view kind,
            core::timespan predicted, core::timespan took);

  /// Whether anything was noted: else predictions are the profile's alone,
  /// which may be a guess.
  bool known(core::variant_id variant) const;

  /// Returns a prediction for devices of that kind at their pace; where none
  /// was noted, at that of any kind.
  core::timespan corrected(core::variant_id variant, std::string_view kind,
                           core::timespan x) const;

private:
  /// By variant; 0: not known.
  using factors = std::vector<double>;

  factors any_;
  std::vector<std::pair<std::string, factors>> kinds_;
};

/// Returns the device's time that a row takes of a step shared by `batch` rows,
/// for `steps_left` steps, and for its text and its picture. `steps` is of `v`.
/// @pre batch > 0
core::timespan device_work(const variant_profile& v, const step_table& steps,
                           core::extent px, uint32_t steps_left,
                           uint32_t batch);

/// Returns when to come back: when `share` of what takes `wait` in all will be
/// done, within 1 s and 1 h.
core::timespan come_back_after(core::timespan wait, double share);

/// Returns until when a row is predicted to be answered at `worker`, from now
/// on: it waits for a place in the batch while all are taken, runs at the batch
/// that its coming makes, and then needs `after`. `v` and `steps` are of the
/// worker's kind of device.
core::timespan predicted_completion(const variant_profile& v,
                                    const step_table& steps, core::extent px,
                                    uint32_t steps_left,
                                    const worker_view& worker,
                                    core::timespan after);

} // namespace atelier::planning
