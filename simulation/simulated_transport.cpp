// SPDX-License-Identifier: Apache-2.0
#include <atelier/simulation/simulated_transport.hpp>

#include <utility>

namespace atelier::runtime {

simulated_transport::simulated_transport(actors::node_id self,
                                         std::shared_ptr<core::timers> timers)
  : self_(self), timers_(std::move(timers)) {}

void simulated_transport::link(const std::shared_ptr<simulated_transport>& a,
                               const std::shared_ptr<simulated_transport>& b,
                               const link_script& script) {
  a->peers_[b->self_] = {b, std::make_unique<delayed_link>(a->timers_, script)};
  b->peers_[a->self_] = {a, std::make_unique<delayed_link>(b->timers_, script)};
}

void simulated_transport::connect(actors::transport_events events) {
  events_ = std::move(events);
}

bool simulated_transport::send(actors::node_id to,
                               std::vector<std::byte> record) {
  const auto i = peers_.find(to);
  if (i == peers_.end())
    return false;
  i->second.out->post(
    [far = i->second.far, from = self_, record = std::move(record)]() mutable {
      if (const auto there = far.lock(); there && there->events_.on_record)
        there->events_.on_record(from, record);
    });
  return true;
}

void simulated_transport::cut(actors::node_id to) {
  const auto i = peers_.find(to);
  if (i == peers_.end())
    return;
  const auto far = i->second.far;
  // Records under way are lost; the far end notices that after the delay.
  i->second.out->cut();
  i->second.out->after_all({}, [far, from = self_] {
    if (const auto there = far.lock())
      there->lose(from);
  });
  if (const auto there = far.lock())
    if (const auto back = there->peers_.find(self_);
        back != there->peers_.end())
      back->second.out->cut();
  lose(to);
}

void simulated_transport::lose(actors::node_id whom) {
  if (peers_.erase(whom) != 0 && events_.on_lost)
    events_.on_lost(whom);
}

} // namespace atelier::runtime
