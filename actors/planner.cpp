// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/exception_border.hpp>
#include <atelier/actors/planner.hpp>
#include <atelier/core/log.hpp>
#include <atelier/planning/demand/request_work.hpp>
#include <atelier/planning/feasibility.hpp>
#include <atelier/planning/hosting_rules.hpp>
#include <atelier/planning/hosting_wishes.hpp>
#include <atelier/planning/measured_costs.hpp>

#include <caf/send.hpp>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace atelier::actors {

namespace {

using pointer = self_of<planner_actor, planner_state>;

/// An operator's wishes for a plan.
struct wanted_hosting {
  planning::hosting_wishes wishes;
  std::vector<core::variant_id> told_to_leave;
};

/// Runs the policy; an exception becomes the reason for the missing plan.
plan_made solved(uint64_t number, const planning::policy& by,
                 const planning::demand& asked,
                 const planning::profile& profiled,
                 const planning::cluster_view& there,
                 const planning::plan& before, wanted_hosting wanted) {
  plan_made out;
  out.number = number;
  out.devices = static_cast<uint32_t>(there.workers.size());
  try {
    const auto known = planning::at_requested_work(
      planning::with_costs(profiled, there.costs), asked.windows);
    auto made = planning::only_possible(by.replan(asked, known, there, before),
                                        known, there);
    made = planning::with_wishes(std::move(made), std::move(wanted.wishes),
                                 wanted.told_to_leave, known, there);
    if (!made.grouped)
      made = planning::hosting_waiting(std::move(made), asked, known, there);
    out.plan = std::make_shared<const planning::plan>(
      planning::judged(std::move(made), known, there));
  } catch (const std::exception& e) {
    out.failure = core::fail(core::ec::internal, "policy {} cannot plan: {}",
                             by.name(), e.what());
  }
  return out;
}

void solve(pointer self, planning::demand asked) {
  auto& st = self->state;
  asked.now = self->clock().now();
  asked.period = st.config.period;
  planning::drop_waited(st.wishes, asked, st.there);
  const planner_actor me{self};
  st.solving_since = asked.now;
  const bool runs = st.config.offload->run(
    st.config.expected, [me, number = st.number, asked = std::move(asked),
                         policy = st.config.policy, profile = st.config.profile,
                         there = st.there, before = st.in_force,
                         wanted = wanted_hosting{st.wishes, st.told_to_leave}] {
      caf::anon_send(
        me, solved(number, *policy, asked, *profile, there, *before, wanted));
    });
  st.solving = runs;
  if (runs) {
    st.there.unhosted.clear();
    st.there.retrievals.clear();
    st.there.waiting.clear();
    st.told_to_leave.clear();
  }
}

void replan(pointer self) {
  auto& st = self->state;
  const auto now = self->clock().now();
  // A solver that does not return is abandoned: its result arrives too late.
  const bool lost =
    st.solving && now >= core::after(st.solving_since, st.config.patience);
  if (st.solving && !lost) {
    st.again = true;
    return;
  }
  st.solving = true;
  st.again = false;
  st.solving_since = now;
  ++st.number;
  self->request(st.config.counts, caf::infinite, demand_atom::value)
    .then([self](planning::demand& asked) { solve(self, std::move(asked)); },
          [self](const caf::error&) { solve(self, {}); });
}

/// Events in close succession lead to one plan.
void replan_soon(pointer self) {
  auto& st = self->state;
  const auto now = self->clock().now();
  const auto earliest = core::after(st.last_event, st.config.least_gap);
  if (st.number == 0 || now >= earliest) {
    st.last_event = now;
    replan(self);
  } else if (!st.event_waits) {
    st.event_waits = true;
    self->delayed_send(self, earliest - now, plan_made{});
  }
}

void wish(pointer self, const wish_hosting& x) {
  auto& st = self->state;
  auto& to = x.there ? st.wishes.there : st.wishes.away;
  auto& from = x.there ? st.wishes.away : st.wishes.there;
  for (const auto v : x.variants) {
    std::erase(from, v);
    std::erase(st.told_to_leave, v);
    if (std::find(to.begin(), to.end(), v) == to.end())
      to.push_back(v);
    if (!x.there)
      st.told_to_leave.push_back(v);
  }
  replan_soon(self);
}

void publish(pointer self, const plan_made& x) {
  auto& st = self->state;
  if (x.number == 0) {
    st.event_waits = false;
    st.last_event = self->clock().now();
    return replan(self);
  }
  if (x.number != st.number)
    return;
  st.solving = false;
  st.solved_for = x.devices;
  // Only once: a policy whose plans are all provisional waits for the next
  // period.
  const bool hasty = x.plan && x.plan->provisional && !st.in_force->provisional;
  if (x.plan) {
    if (x.plan->feasible == planning::feasibility::never
        && x.plan->reason != st.in_force->reason)
      core::log_warn("no request can be answered: {}", x.plan->reason);
    st.in_force = x.plan;
    self->send(st.config.scheduler, publish_plan{x.plan});
  } else {
    ++st.failures;
    core::log_warn("the plan in force stays: {}", x.failure.text);
  }
  if (st.again || hasty)
    replan(self);
}

} // namespace

planner_actor::behavior_type planner(self_of<planner_actor, planner_state> self,
                                     planner_config config) {
  install_exception_border(self);
  self->state.config = std::move(config);
  self->state.in_force = self->state.config.initial_plan;
  self->delayed_send(self, self->state.config.period, tick_atom::value);
  if (self->state.config.on_jumps)
    self->send(self->state.config.counts, watch_load{self->address()});
  return {
    [self](const cluster_changed& x) {
      auto& there = self->state.there;
      // Unhosted variants that no plan has answered yet are not forgotten.
      auto unhosted = std::exchange(there.unhosted, {});
      auto waiting = std::exchange(there.waiting, {});
      there = x.there;
      if (there.waiting.empty())
        there.waiting = std::move(waiting);
      for (const auto v : there.unhosted)
        std::erase(unhosted, v);
      unhosted.insert(unhosted.end(), there.unhosted.begin(),
                      there.unhosted.end());
      there.unhosted = std::move(unhosted);
      replan_soon(self);
    },
    [self](tick_atom) {
      self->delayed_send(self, self->state.config.period, tick_atom::value);
      replan(self);
    },
    [self](const load_jumped&) { replan_soon(self); },
    [self](const wish_hosting& x) { wish(self, x); },
    [self](const plan_made& x) { publish(self, x); },
    [self](status_atom) { return planner_status{self->state.solved_for}; },
  };
}

} // namespace atelier::actors
