// SPDX-License-Identifier: Apache-2.0

//  gateway      scheduler        preprocess   denoise_step   postprocess
//     |  submit     |                 |            |              |
//     |------------>|     prepare     |            |              |
//     |             |---------------->|            |              |
//     |             |<----------------|            |              |
//     |             |  prepared       |            |              |
//     |             |           denoise            |              |
//     |             |----------------------------->|              |
//     |             |<-----------------------------|              |
//     |  progressed |  stepping, stepped ..., denoised            |
//     |<------------|                  finish                     |
//     |             |-------------------------------------------->|
//     |             |<--------------------------------------------|
//     |  answered   |  finished                                   |
//     |<------------|                                             |
//     | taken_answer|   cancel, deadline: the row ends at once; its worker is
//     |------------>|   notified and still replies, which frees seat and slots.

#include <atelier/actors/exception_border.hpp>
#include <atelier/actors/scheduler_actor.hpp>

namespace atelier::actors {

namespace {

using pointer = self_of<scheduler_actor, scheduler_state>;

/// Number of ticks without work after which the tick stops: starting it wakes
/// the clock's thread, and a request that arrives soon must not wait for that.
constexpr uint32_t most_idle_ticks = 50;

/// Passes one event to the tables and keeps the tick running while needed.
template <class Event>
void handle(pointer self, Event event) {
  auto& st = self->state;
  event(*st.tables, self->clock().now());
  st.workers->settle();
  const bool busy = st.tables->wants_tick();
  if (busy)
    st.idle_ticks = 0;
  if (!st.ticking && (busy || st.idle_ticks < most_idle_ticks)) {
    st.ticking = true;
    self->delayed_send(self, st.tick, tick_atom::value);
  }
}

} // namespace

scheduler_actor::behavior_type scheduler_behavior(
  self_of<scheduler_actor, scheduler_state> self,
  scheduler_actor_config config) {
  install_aborting_border(self);
  self->state.tick = config.tick;
  self->state.workers = config.ports.workers;
  self->state.tables.emplace(std::move(config.tables), std::move(config.ports));
  auto note = [self](const auto& x) {
    handle(self, [&](scheduler& h, core::time_point now) { h.on(x, now); });
  };
  return {
    [self](const submit& x) {
      handle(self, [&](scheduler& h, auto now) {
        h.submit(x.request, now, x.held, x.keeps_suspicion);
      });
    },
    [self](const trial_noted& x) {
      handle(self, [&](scheduler& h, auto now) { h.trial_noted(x.id, now); });
    },
    [self](const cancel_request& x) {
      handle(self, [&](scheduler& h, auto now) { h.cancel(x.id, now); });
    },
    [self](const taken_answer& x) {
      handle(self, [&](scheduler& h, auto now) { h.taken(x.id, now); });
    },
    [note](const worker_ready& x) { note(x); },
    [note](const stage_done& x) { note(x); },
    [note](const stepping& x) { note(x); },
    [note](const stepped& x) { note(x); },
    [note](const denoised& x) { note(x); },
    [note](const adopted& x) { note(x); },
    [note](const has_order& x) { note(x); },
    [note](const wish_hosting& x) { note(x); },
    [self](const process_suspected& x) {
      handle(self,
             [&](scheduler& h, auto now) { h.suspected(x.process, now); });
    },
    [self](const process_lost& x) {
      handle(self, [&](scheduler& h, auto now) {
        h.lost(x.process, x.confirmed, x.cause, now);
      });
    },
    [self](const publish_plan& x) {
      handle(self, [&](scheduler& h, auto now) { h.publish(x.plan, now); });
    },
    [self](tick_atom) {
      self->state.ticking = false;
      ++self->state.idle_ticks;
      handle(self, [](scheduler& h, auto now) { h.tick(now); });
    },
    [self](stop_atom) {
      handle(self, [](scheduler& h, auto now) { h.stop(now); });
    },
    [self](counts_atom) { return self->state.tables->counts(); },
    [self](status_atom) {
      const auto& tables = *self->state.tables;
      auto s = tables.status();
      s.recovery = tables.recovery(self->clock().now());
      return s;
    },
  };
}

} // namespace atelier::actors
