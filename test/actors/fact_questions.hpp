// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/scheduler_rig.hpp"
#include "support/told_stage.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace atelier::test {

/// A stage before the route that finds any requested fact. The test answers its
/// orders.
class question_stage {
public:
  /// The fields name the requested or reported facts.
  struct parts {
    bool tolerated = false;
    bool hit_likely = false;
    bool near = false;
    bool mask = false;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, parts& x) {
      return f(x.tolerated, x.hit_likely, x.near, x.mask);
    }
  };

  using work = parts;

  struct done {
    parts tells;
    std::vector<uint32_t> tolerated;
    bool hit_likely = false;
    std::vector<planning::match> near;
    planning::mask_facts mask;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.tells, x.tolerated, x.hit_likely, x.near, x.mask.ratio,
               x.mask.template_id, x.mask.recorded);
    }
  };

  explicit question_stage(const config::scheduler_settings& pace) {
    row_.name = "question";
    row_.place = planning::place::background;
    row_.hook = planning::hook::before_route;
    row_.budget = pace.facts;
    row_.budget_share = pace.facts_share;
    row_.otherwise = planning::if_failed::go_on;
    row_.on_demand = true;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& of) const {
    const auto& x = of.asked;
    if (!x.tolerated && !x.hit_likely && !x.near && !x.mask)
      return std::nullopt;
    return work{x.tolerated, x.hit_likely, x.near, x.mask};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return {};
  }

  core::result<done> run(const work&, planning::worker_context&) const {
    return done{};
  }

  core::result<void> end(const done& x, planning::facts& known) const {
    if (x.tells.tolerated)
      known.tolerated = x.tolerated;
    if (x.tells.hit_likely)
      known.hit_likely = x.hit_likely;
    if (x.tells.near)
      known.near = x.near;
    if (x.tells.mask)
      known.mask = x.mask;
    return {};
  }

private:
  planning::stage_row row_;
};

/// An order to fetch an image that is the answer.
struct fetch_order {
  actors::run_stage order;
  uint64_t entry = 0;

  static std::optional<fetch_order> of(const actors::run_stage& x) {
    const auto what = x.order.as<told_stage::work>();
    return what ? std::optional{fetch_order{x, (*what)->about}} : std::nullopt;
  }
};

/// The questions of a rig's scheduler, and the test's answers.
class fact_questions {
public:
  struct asked {
    core::ticket who;
    uint16_t stage = 0;
    question_stage::parts what;
  };

  static std::shared_ptr<const planning::pipeline> stages(
    const config::scheduler_settings& pace = {}) {
    actors::standard_stages own;
    own.search = planning::make_stage(question_stage{pace});
    told_stage::script fetches;
    fetches.begin =
      [](const planning::row_view& of) -> std::optional<told_stage::work> {
      if (of.from == nullptr || of.leg != nullptr)
        return std::nullopt;
      return told_stage::work{of.from->entry};
    };
    own.fetch =
      told("fetch", planning::hook::each_leg, planning::if_failed::choose_again,
           {{planning::held::pixels, planning::access::writes,
             [](const planning::leg* in, bool) { return in == nullptr; }}},
           fetches, planning::place::background);
    return pipeline_with(own);
  }

  /// Announces the worker that is asked. The process of a pool's worker may
  /// die.
  static void add_worker(scheduler_rig& to) {
    actors::worker_ready x;
    x.worker.role = actors::role::recall;
    x.seats = 64;
    to.on(x);
  }

  /// Returns every question so far.
  const std::vector<asked>& all(scheduler_rig& of) {
    std::erase_if(of.sent, [&](const sent_work& x) {
      const auto* order = std::get_if<actors::run_stage>(&x.what);
      if (order == nullptr)
        return false;
      const auto what = order->order.as<question_stage::work>();
      if (what)
        all_.push_back({order->ticket, order->stage, **what});
      return static_cast<bool>(what);
    });
    return all_;
  }

  static void answer(scheduler_rig& of, const asked& to, planning::facts with,
                     core::error why = {}, core::timespan took = {}) {
    question_stage::done told;
    told.tells = {with.tolerated.has_value(), with.hit_likely.has_value(),
                  with.near.has_value(), with.mask.has_value()};
    told.tolerated = with.tolerated.value_or(std::vector<uint32_t>{});
    told.hit_likely = with.hit_likely.value_or(false);
    told.near = with.near.value_or(std::vector<planning::match>{});
    told.mask = with.mask.value_or(planning::mask_facts{});
    actors::stage_done x;
    x.ticket = to.who;
    x.stage = to.stage;
    x.failure = std::move(why);
    x.took = took;
    x.outcome = core::typed_body::of(std::move(told));
    of.on(x);
  }

private:
  std::vector<asked> all_;
};

} // namespace atelier::test
