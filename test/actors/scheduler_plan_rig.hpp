// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/fact_questions.hpp"
#include "actors/scheduler_rig.hpp"
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace atelier::test {

inline constexpr core::variant_id slow{0};
inline constexpr core::variant_id fast{1};

/// Vanilla, except where a test sets the result.
struct scripted_policy : planning::vanilla {
  planning::choice choose(const planning::decision_context& by) const override {
    return choosing ? choosing(by.known) : vanilla::choose(by);
  }

  core::queue_id place(const planning::leg& next,
                       const planning::decision_context& by) const override {
    if (own_queues && !by.there.workers.empty())
      return planning::queue_of(by.there.workers.front().worker);
    return vanilla::place(next, by);
  }

  std::function<planning::choice(const planning::facts&)> choosing;
  bool own_queues = false;
};

/// A scheduler whose plans, facts and loads a test plays.
struct plan_rig {
  explicit plan_rig(uint32_t slots = 16, config::scheduler_settings pace = {},
                    std::shared_ptr<planning::profile> profile = {}) {
    scheduler_rig::options o;
    o.profile = std::move(profile);
    o.pace = pace;
    o.policy = policy;
    o.slots = {slots, slots, 0};
    o.devices_take_found_work = true;
    o.stages = fact_questions::stages(pace);
    rig.emplace(std::move(o));
    for (auto& v : rig->profile->variants)
      v.load = std::chrono::seconds{1};
    rig->add_cpu(life(1), 16);
    fact_questions::add_worker(*rig);
  }

  static constexpr ipc::process_life life(uint32_t n, uint32_t which = 1) {
    return scheduler_rig::life(n, which);
  }

  /// Publishes a plan in which each device has this hosting and batch.
  void publish(std::vector<core::variant_id> hosting, uint32_t batch,
               planning::joining join, uint32_t level = 0) {
    planning::plan next =
      policy->replan({}, *rig->profile, rig->sut->cluster(), last);
    for (auto& a : next.workers) {
      a.hosting = hosting;
      a.batch = batch;
      a.join = join;
      a.level = level;
    }
    if (adjust)
      adjust(next);
    last = next;
    rig->event([&](auto& h) {
      h.publish(std::make_shared<const planning::plan>(next), rig->now);
    });
  }

  void adopted(const actors::adopt& x, core::error why = {}) {
    rig->on(actors::adopted{scheduler_rig::device_at(life(2)), x.number, why});
  }

  /// Adds a device that can load while its rows continue.
  void add_loading_device() {
    actors::worker_ready x;
    x.worker = scheduler_rig::device_at(life(2));
    x.seats = x.max_batch = 4;
    x.device = "cpu";
    x.variants = {"card@4"};
    x.loads_beside = true;
    rig->on(x);
  }

  /// Prepares every row that waits for it.
  void prepare_all() {
    while (auto p = rig->next<test::prepare>())
      rig->done(p->second);
  }

  using asked = fact_questions::asked;

  /// Returns every question so far.
  const std::vector<asked>& questions() {
    return asked_.all(*rig);
  }

  void answer(const asked& to, planning::facts with, core::error why = {},
              core::timespan took = {}) {
    fact_questions::answer(*rig, to, std::move(with), std::move(why), took);
  }

  /// Answers the last question with matches.
  void find(std::vector<planning::match> near, core::timespan took = {}) {
    planning::facts found;
    found.near = std::move(near);
    answer(questions().back(), std::move(found), {}, took);
  }

  std::shared_ptr<scripted_policy> policy = std::make_shared<scripted_policy>();
  std::optional<scheduler_rig> rig;
  planning::plan last = [] {
    planning::plan x;
    x.version = 1;
    return x;
  }();
  std::function<void(planning::plan&)> adjust;

private:
  fact_questions asked_;
};

} // namespace atelier::test
