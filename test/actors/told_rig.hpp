// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/scheduler_rig.hpp"
#include "support/told_stage.hpp"
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <functional>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::test {

/// Vanilla, except where a test chooses.
struct told_policy : planning::vanilla {
  explicit told_policy(
    std::function<planning::choice(const planning::facts&)> how)
    : choosing(std::move(how)) {}

  planning::choice choose(const planning::decision_context& by) const override {
    return choosing ? choosing(by.known) : vanilla::choose(by);
  }

  std::function<planning::choice(const planning::facts&)> choosing;
};

/// A scheduler with a test's own stages, a CPU process and a device.
struct told_rig : scheduler_rig {
  static constexpr auto cpu = life(1);
  static constexpr auto device = life(2);

  explicit told_rig(options o) : scheduler_rig(std::move(o)) {
    add_cpu(cpu);
    add_device(device);
  }

  static options with(std::shared_ptr<const planning::pipeline> stages) {
    options o;
    o.stages = std::move(stages);
    return o;
  }

  /// Returns options with a fact stage whose `end` enters the facts.
  static options with_fact(planning::if_failed otherwise,
                           std::vector<planning::slot_use> slots = {},
                           told_stage::script says = {},
                           core::timespan budget = core::timespan::max()) {
    actors::standard_stages own;
    own.classify = test::told("guess", planning::hook::before_route, otherwise,
                              std::move(slots), std::move(says),
                              planning::place::cpu_pool, budget);
    return with(pipeline_with(own));
  }

  static options with_behind(std::string_view before, planning::stage_ptr x) {
    return with(pipeline_with({}, {{std::move(x), std::string{before}}}));
  }

  void add_worker(actors::role what, uint32_t seats = 1,
                  ipc::process_life where = cpu) {
    actors::worker_ready x;
    x.worker = {where, what, 0};
    x.seats = seats;
    on(x);
  }

  /// Takes the oldest order to a stage.
  actors::run_stage order(std::string_view name) {
    const auto stage = stages->find(name).value();
    for (auto i = sent.begin(); i != sent.end(); ++i)
      if (const auto* x = std::get_if<actors::run_stage>(&i->what);
          x != nullptr && x->stage == stage) {
        const auto found = *x;
        sent.erase(i);
        return found;
      }
    BOOST_FAIL("nothing was ordered of '" << name << "'");
    return {};
  }

  size_t orders(std::string_view name) const {
    const auto stage = stages->find(name).value();
    size_t n = 0;
    for (const auto& x : sent)
      if (const auto* run = std::get_if<actors::run_stage>(&x.what))
        n += run->stage == stage ? 1u : 0u;
    return n;
  }

  static actors::stage_done reply(const actors::run_stage& x,
                                  uint64_t found = 0, core::error why = {}) {
    actors::stage_done r;
    r.ticket = x.ticket;
    r.stage = x.stage;
    r.failure = std::move(why);
    r.outcome = core::typed_body::of(told_stage::done{found});
    return r;
  }

  uint64_t left_out() const {
    const auto& all = sut->counts().stages_left_out;
    return std::accumulate(all.begin(), all.end(), uint64_t{0});
  }
};

} // namespace atelier::test
