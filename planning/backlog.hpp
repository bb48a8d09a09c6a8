// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/row_work.hpp>
#include <atelier/planning/step_table.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

/// The devices' predicted work, and the time when it will be done. Pure,
/// without a clock.
/// Work counts for the variant that it waits for. The same workers do the work
/// of variants that they host together: a fluid model spreads the work of such
/// a group evenly over its workers. Every change takes the logarithm of the
/// number of tenants, except `see`, whose cost is proportional to the number of
/// hostings.
class backlog {
public:
  explicit backlog(size_t variants);

  /// Replaces the workers with the current ones.
  void see(const cluster_view& there);

  void add(core::variant_id variant, core::timespan work,
           core::tenant_id whose = {});

  /// @pre this amount of the tenant was added before
  void remove(core::variant_id variant, core::timespan work,
              core::tenant_id whose = {});

  /// Returns the time when the work that competes with `variant` will be done;
  /// nothing if no worker hosts it, so that no prediction is possible.
  std::optional<core::timespan> wait(core::variant_id variant) const;

  /// Returns whether a tenant may add work for `variant` when the limit on that
  /// time is `most`: below the limit, or within the tenant's fair share of it
  /// (see is_granted).
  /// @pre a worker hosts it
  bool grants(core::variant_id variant, core::tenant_id whose,
              core::timespan most) const;

  /// Returns the longest of these times; nothing if no worker hosts a variant.
  std::optional<core::timespan> longest_wait() const;

  /// Returns the workers of `variant`, by kind of device.
  const std::vector<device_group>& hosts_of(core::variant_id variant) const;

  /// Returns the number of rows that share a step on a worker of `variant`
  /// under full load; 1 if no worker hosts it.
  uint32_t batch_of(core::variant_id variant) const;

  /// Returns all work, for checks.
  core::timespan work() const;

private:
  /// Variants that are hosted together.
  struct group {
    uint32_t workers = 0;
    uint32_t max_batch = 0;
    core::timespan work{0};
  };

  std::vector<core::timespan> by_variant_;
  /// By variant; only tenants with work.
  std::vector<std::map<core::tenant_id, core::timespan>> of_tenants_;
  /// Index of a variant's group.
  std::vector<size_t> group_of_;
  std::vector<group> groups_;
  /// By variant.
  std::vector<std::vector<device_group>> hosts_;
};

/// The recent ratio of measured to predicted durations of each variant, by kind
/// of device. Pure.
class measured_pace {
public:
  explicit measured_pace(size_t variants);

  /// Notes that steps with the prediction `predicted` on devices of that kind
  /// took `took`. It has no effect unless both are above 0.
  void note(core::variant_id variant, std::string_view kind,
            core::timespan predicted, core::timespan took);

  /// Returns whether anything was noted: otherwise predictions come only from
  /// the profile, which may be an estimate.
  bool known(core::variant_id variant) const;

  /// Returns a prediction for devices of that kind at their pace; if none was
  /// noted, at that of any kind.
  core::timespan corrected(core::variant_id variant, std::string_view kind,
                           core::timespan x) const;

private:
  /// By variant; 0: unknown.
  using factors = std::vector<double>;

  factors any_;
  std::vector<std::pair<std::string, factors>> kinds_;
};

/// Returns a row's share of the device's time in steps shared by `batch` rows
/// of the variant's own guidance, for `steps_left` steps, and for its text and
/// its images. `steps` is of `v`.
/// @pre batch > 0
core::timespan device_work(const variant_profile& v, const step_table& steps,
                           const row_work& of, uint32_t steps_left,
                           uint32_t batch);

/// Returns the retry time: the time after which `share` of the work that takes
/// `wait` in all will be done, within 1 s and 1 h.
core::timespan come_back_after(core::timespan wait, double share);

/// Returns the predicted time, from now on, until a row is answered at
/// `worker`: it waits for a place in the batch while all are taken, runs in the
/// batch that it joins, and then needs `after`. `v` and `steps` are of the
/// worker's kind of device.
core::timespan predicted_completion(const variant_profile& v,
                                    const step_table& steps, const row_work& of,
                                    uint32_t steps_left,
                                    const worker_view& worker,
                                    core::timespan after);

} // namespace atelier::planning
