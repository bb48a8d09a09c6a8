// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/exception_border.hpp>
#include <atelier/actors/planner.hpp>

#include <caf/send.hpp>

namespace atelier::actors {

namespace {

using pointer = planner_actor::stateful_pointer<planner_state>;

/// Solving is given this long in simulated time.
constexpr core::timespan simulated_solve = std::chrono::milliseconds{5};

void solve(pointer self, planning::demand asked) {
  auto& st = self->state;
  const planner_actor me{self};
  const bool runs = st.config.offload->run(
    simulated_solve,
    [me, asked = std::move(asked), policy = st.config.policy,
     profile = st.config.profile, there = st.there, before = st.in_force] {
      caf::anon_send(me, publish_plan{std::make_shared<const planning::plan>(
                           policy->replan(asked, *profile, there, *before))});
    });
  st.solving = runs;
}

void replan(pointer self) {
  auto& st = self->state;
  if (st.solving) {
    st.again = true;
    return;
  }
  st.solving = true;
  st.again = false;
  self->request(st.config.counts, caf::infinite, demand_atom::value)
    .then([self](planning::demand& asked) { solve(self, std::move(asked)); },
          [self](const caf::error&) { solve(self, {}); });
}

} // namespace

planner_actor::behavior_type planner(
  planner_actor::stateful_pointer<planner_state> self, planner_config config) {
  install_exception_border(self);
  self->state.config = std::move(config);
  self->state.in_force = self->state.config.initial_plan;
  self->delayed_send(self, self->state.config.period, tick_atom::value);
  return {
    [self](const cluster_changed& x) {
      self->state.there = x.there;
      replan(self);
    },
    [self](tick_atom) {
      self->delayed_send(self, self->state.config.period, tick_atom::value);
      replan(self);
    },
    [self](const publish_plan& x) {
      auto& st = self->state;
      st.solving = false;
      st.in_force = x.what;
      self->send(st.config.hub, x);
      if (st.again)
        replan(self);
    },
  };
}

} // namespace atelier::actors
