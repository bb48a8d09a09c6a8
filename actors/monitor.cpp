// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/exception_border.hpp>
#include <atelier/actors/monitor.hpp>

namespace atelier::actors {

void monitor_state::close(const counters& counts, core::time_point now) {
  planning::demand_window w;
  w.begin = begin;
  w.length = now - begin;
  w.arrived = counts.arrived - before.arrived;
  w.refused = counts.refused - before.refused;
  w.answered = counts.answered - before.answered;
  w.failed = counts.failed - before.failed;
  w.cancelled = counts.cancelled - before.cancelled;
  w.late = counts.late - before.late;
  windows.push_back(w);
  while (windows.size() > config.windows)
    windows.pop_front();
  backlog = counts.arrived - counts.refused - counts.answered - counts.failed
          - counts.cancelled;
  before = counts;
  begin = now;
}

monitor_actor::behavior_type monitor(
  monitor_actor::stateful_pointer<monitor_state> self, monitor_config config) {
  install_exception_border(self);
  self->state.config = std::move(config);
  self->state.begin = self->clock().now();
  self->delayed_send(self, self->state.config.window, tick_atom::value);
  return {
    [self](tick_atom) {
      self->delayed_send(self, self->state.config.window, tick_atom::value);
      self->request(self->state.config.hub, caf::infinite, counts_atom::value)
        .then([self](const counters& counts) {
          self->state.close(counts, self->clock().now());
        });
    },
    [self](demand_atom) {
      planning::demand asked;
      asked.windows.assign(self->state.windows.begin(),
                           self->state.windows.end());
      asked.backlog = self->state.backlog;
      return asked;
    },
  };
}

} // namespace atelier::actors
