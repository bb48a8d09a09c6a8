// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/backlog.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/measured_costs.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/slow_workers.hpp>
#include <atelier/planning/step_table.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace atelier::actors {

/// Describes the work that is left for a request.
struct work_left {
  const core::request& request;
  const core::recipe& recipe;
  core::phase phase = core::phase::preparing;
  /// The steps left of its leg.
  uint32_t steps = 0;
};

/// A run of steps as its worker reported it.
struct steps_run {
  const planning::worker_view& worker;
  /// The variant of each row, at least one. All have the weights of `weights`
  /// (planning/grouping.hpp) and are drawn at this size.
  std::vector<core::variant_id> variants;
  core::variant_id weights;
  core::extent px;
  uint32_t batch = 1;
  uint32_t steps = 0;
  core::timespan took{0};
  /// The whole of each image was computed, not a masked part.
  bool whole = true;
  /// The worker is slow compared with others: its times are not the variant's.
  bool slow = false;
  /// How many rows of the variants' own guidance take as many places
  /// (planning/row_work.hpp); 0: `batch` rows.
  double rows = 0;
};

/// Predicts the time of requests and devices from the profile, the accepted
/// requests and recent measurements. This part of the scheduler decides
/// nothing, knows requests by their numbers, and holds no row, no worker and no
/// clock. Threads: one at a time.
class forecast {
public:
  explicit forecast(std::shared_ptr<const planning::profile> profile);

  // -- the devices' work ------------------------------------------------------

  /// Sets the workers as they are now.
  void see(const planning::cluster_view& there);

  /// Notes a kind of device that joined.
  void came(const std::string& kind);

  /// Counts a request's work on devices, in place of what was counted for it
  /// before.
  void count(core::request_id request, const core::recipe& how,
             uint32_t steps_left, core::tenant_id whose = {});

  /// Stops counting a request's work.
  void uncount(core::request_id request);

  /// Returns the work that is counted for a request, and that for all; for
  /// checks.
  core::timespan work_of(core::request_id request) const;
  core::timespan work() const;

  // -- predictions ------------------------------------------------------------

  /// Whether the variant's pace was measured; otherwise it may be a guess.
  bool knows_pace(core::variant_id variant) const;

  /// Whether devices of several kinds ever joined.
  bool several_kinds() const;

  /// Notes whether the costs that a new plan was made with are guesses.
  void follow(const planning::plan& plan, const planning::cluster_view& there);

  /// Whether the plan was made with a guess of what its routes cost on these
  /// workers, or its routes' costs are guesses now. Costs that were measured
  /// meanwhile are no guesses.
  bool guesses(const planning::plan& plan,
               const planning::cluster_view& there) const;

  /// Returns the least time that a request takes, on its best kind of device.
  core::timespan least(const work_left& x) const;

  /// Returns the least time that it takes on a kind of device.
  core::timespan least_on(const work_left& x, std::string_view kind) const;

  /// Returns how long it would take to be answered at a worker, from now on.
  core::timespan at(const work_left& x,
                    const planning::worker_view& worker) const;

  /// Returns how long a living worker may give no sign of life for a request.
  /// @param run_steps steps that it runs between two signs
  core::timespan silence(const work_left& x,
                         const planning::worker_view& worker,
                         uint32_t run_steps) const;

  /// Returns the time of the work that is queued before a variant, if it is
  /// known to be more than `most` and the tenant is not below its fair share of
  /// that limit (see planning::is_granted).
  std::optional<core::timespan> wait_beyond(core::variant_id variant,
                                            core::timespan most,
                                            core::tenant_id whose = {}) const;

  /// Returns when a refused request may be retried: when a tenth of the
  /// accepted ones have ended.
  /// @param most_requests maximum number of requests accepted at once
  core::timespan come_back(uint64_t most_requests, core::timespan least) const;

  /// Returns the recent time from an image to its answer.
  core::timespan finishing() const;

  /// Returns the extra work of a request, as a multiple of a variant's usual
  /// work.
  double extra_work(core::variant_id variant,
                    const core::request& wanted) const;

  /// Returns the extra pixels of a request's image, in images of a variant's
  /// own size.
  double extra_pixels(core::variant_id variant,
                      const core::request& wanted) const;

  /// Returns how many rows of its variant's own guidance a row counts for in a
  /// step (planning/row_work.hpp).
  double rows_of(const core::recipe& how) const;

  // -- what was measured ------------------------------------------------------

  void ran(const steps_run& x, core::time_point now);

  /// Notes the time of encoding a text, of decoding an image and of encoding
  /// the image that it started from.
  void ended(core::variant_id variant, std::string_view kind,
             core::timespan text, core::timespan decode, core::timespan encode);

  /// Notes the time of loading a variant by itself.
  void loaded(core::variant_id variant, std::string_view kind,
              core::timespan took);

  /// Notes the time of finishing an image.
  void finished(core::timespan took);

  void answered(core::time_point now);

  /// Forgets a worker that no longer exists.
  void gone(core::worker_id worker);

  /// Returns the slow workers by ascending id, if they changed since the last
  /// call.
  std::optional<std::vector<core::worker_id>> slow_news(core::time_point now);

  /// Returns the measured costs, if they differ from those returned last; the
  /// profile of the policies then contains them.
  std::optional<std::vector<planning::kind_costs>> cost_news();

  /// Returns the profile with the measured costs that were returned.
  const std::shared_ptr<const planning::profile>& profile() const;

  /// Calls f(id) for every request of which it knows anything, for checks.
  template <class F>
  void each_request(const F& f) const {
    for (const auto& [id, known] : counted_)
      f(id);
  }

private:
  bool uses_guess(const planning::plan& plan,
                  const planning::cluster_view& there) const;

  std::shared_ptr<const planning::profile> profile_;
  std::shared_ptr<const planning::profile> current_;

  struct counted_work {
    core::variant_id variant;
    core::tenant_id whose;
    core::timespan time{0};
  };

  std::unordered_map<core::request_id, counted_work> counted_;
  /// Kinds of device that ever joined.
  std::set<std::string> kinds_;
  /// The tables of the profile, by variant and kind of device.
  planning::kind_tables tables_;
  planning::backlog backlog_;
  planning::measured_pace pace_;
  planning::measured_costs costs_;
  planning::slow_workers slow_;
  core::time_point last_end_;
  double seconds_per_end_ = 0;
  core::timespan finishing_{0};
  bool planned_by_guess_ = false;
};

} // namespace atelier::actors
