// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/backlog.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/measured_costs.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/slow_workers.hpp>
#include <atelier/planning/step_table.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::actors {

/// Names what is still to be done for a request.
struct work_left {
  const core::request& request;
  const core::recipe& how;
  core::phase at = core::phase::preparing;
  /// The steps left of its leg.
  uint32_t steps = 0;
};

/// A run of steps as its worker told it.
struct steps_run {
  const planning::worker_view& worker;
  const core::recipe& how;
  uint32_t batch = 1;
  uint32_t steps = 0;
  core::timespan took{0};
  /// All of each picture was computed, not a masked part.
  bool whole = true;
  /// The worker is slow beside others: its times are not the variant's.
  bool slow = false;
};

/// Predicts what requests and devices take, from the profile, from what is
/// accepted, and from what was measured of late. This part of the scheduler
/// decides nothing and holds no row, no worker and no clock.
/// Threads: one at a time.
class forecast {
public:
  explicit forecast(std::shared_ptr<const planning::profile> profile);

  // -- the devices' work ------------------------------------------------------

  /// Takes the workers as they are now.
  void see(const planning::cluster_view& there);

  /// Notes a kind of device that came.
  void came(const std::string& kind);

  /// Counts a request's work on devices; returns how much that is.
  core::timespan add(const core::recipe& how, uint32_t steps_left);

  /// Counts it no more.
  /// @pre `add` returned so much for this variant
  void remove(core::variant_id variant, core::timespan work);

  /// Returns all work that counts, for checks.
  core::timespan work() const;

  // -- predictions ------------------------------------------------------------

  /// Whether the variant's pace was measured: else it may be a guess.
  bool knows_pace(core::variant_id variant) const;

  /// Whether devices of several kinds ever came.
  bool several_kinds() const;

  /// Whether something that a plan for these workers may go by is a guess.
  bool guesses(const planning::cluster_view& there) const;

  /// Returns what a request takes at least, on its best kind of device.
  core::timespan least(const work_left& x) const;

  /// Returns what it takes at least on a kind of device.
  core::timespan least_on(const work_left& x, std::string_view kind) const;

  /// Returns until when it would be answered at a worker, from now on.
  core::timespan at(const work_left& x,
                    const planning::worker_view& worker) const;

  /// Returns how long a living worker may give no sign for a request.
  /// @param run_steps steps that it runs between two signs
  core::timespan silence(const work_left& x,
                         const planning::worker_view& worker,
                         uint32_t run_steps) const;

  /// Returns the time that the work before a variant takes, where that is known
  /// to be more than `most`.
  std::optional<core::timespan> wait_beyond(core::variant_id variant,
                                            core::timespan most) const;

  /// Returns when a refused request may come back: when a tenth of what is
  /// accepted has ended.
  /// @param most_requests that are accepted at once
  core::timespan come_back(uint64_t most_requests, core::timespan least) const;

  /// Returns the time from a picture to its answer, of late.
  core::timespan finishing() const;

  /// Returns how many times a variant's work a request takes more than the
  /// usual one.
  double extra_work(core::variant_id variant,
                    const core::request& wanted) const;

  // -- what was measured ------------------------------------------------------

  void ran(const steps_run& x, core::time_point now);

  /// Notes what encoding a text and decoding a picture took.
  void ended(core::variant_id variant, std::string_view kind,
             core::timespan text, core::timespan decode);

  /// Notes what loading a variant took, alone.
  void loaded(core::variant_id variant, std::string_view kind,
              core::timespan took);

  /// Notes what finishing a picture took.
  void finished(core::timespan took);

  void answered(core::time_point now);

  /// Forgets a worker that is no more.
  void gone(core::worker_id worker);

  /// Returns the slow workers, by rising id, where they are others than before.
  std::optional<std::vector<core::worker_id>> slow_news(core::time_point now);

  /// Returns what is measured, where it differs from what was returned last;
  /// the profile that policies go by has it then.
  std::optional<std::vector<planning::kind_costs>> cost_news();

  /// Returns the profile with what was returned of measured costs.
  const std::shared_ptr<const planning::profile>& profile() const;

private:
  std::shared_ptr<const planning::profile> profile_;
  std::shared_ptr<const planning::profile> current_;
  /// Kinds of device that ever came.
  std::set<std::string> kinds_;
  /// The profile's, by variant and kind of device.
  planning::kind_tables tables_;
  planning::backlog backlog_;
  planning::measured_pace pace_;
  planning::measured_costs costs_;
  planning::slow_workers slow_;
  core::time_point last_end_;
  double seconds_per_end_ = 0;
  core::timespan finishing_{0};
};

} // namespace atelier::actors
