// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/deliveries.hpp>
#include <atelier/core/log.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

deliveries::deliveries(parts& of)
  : processes_(of.config.processes),
    ports_(of.ports),
    orders_(of.orders),
    workers_(of.workers),
    queues_(of.queues),
    clock_(std::max(2 * of.config.pace.tick, processes_.silence / 10)) {}

void deliveries::hand_over(core::ticket who, dispatched x, worker& w,
                           core::timespan takes, core::time_point now) {
  const auto ran = running_time(now);
  if (w.seat.taken() == 0)
    w.signs.begin(ran);
  const auto explained = [&](uint32_t orders) {
    return core::from_seconds(orders * core::to_seconds(takes)
                              * processes_.step_factor);
  };
  const auto silence = processes_.silence;
  // A pool's worker processes the orders of its seats one after the other.
  const bool pool = !w.on_device();
  w.signs.explain(explained(pool ? w.seat.all() : 1) + silence);
  // A worker is asked about an order before it is silent for too long itself.
  const auto own = explained(1);
  const auto before =
    pool ? orders_.work_of(w.seat.orders()) : core::timespan{0};
  w.seat.sit(who, x.steps_left);
  orders_.add(who, std::move(x), {own, before + own + silence / 2}, ran);
}

void deliveries::tell(const worker& w, work what) {
  if (auto sent = ports_.workers->send(w.address, std::move(what)); !sent)
    core::log_error("{} {}: {}", to_string(w.address.role), w.address.index,
                    core::to_string(sent.why()));
}

void deliveries::send(const worker& w, core::ticket who, work what) {
  if (auto sent = ports_.workers->send(w.address, std::move(what)); !sent)
    unsent_.emplace_back(who, std::move(sent).why());
}

void deliveries::heard(worker& w, core::time_point now) {
  const auto ran = running_time(now);
  w.signs.heard(ran);
  auto* const other = workers_.beside(w);
  if (other == nullptr)
    return;
  if (!w.on_device() || !orders_.any_stepping(other->seat.orders()))
    other->signs.heard(ran);
}

void deliveries::offer(worker& w) {
  offer_alone(w);
  if (auto* const other = workers_.beside(w))
    offer_alone(*other);
}

void deliveries::offer_alone(worker& w) {
  workers_.view_changed(w);
  const auto id = w.id();
  if (!workers_.takes_more(w))
    return queues_.offer(id, w.seat.taken(), {});
  if (!w.slow())
    return queues_.offer(id, w.seat.taken(), w.host.queues());
  auto served = w.host.queues();
  std::erase_if(served,
                [&](auto queue) { return workers_.others_serve(queue); });
  queues_.offer(id, w.seat.taken(), served);
}

core::time_point deliveries::running_time(core::time_point now) {
  return clock_.look(now);
}

std::optional<deliveries::unsent> deliveries::next_unsent() {
  if (unsent_.empty())
    return std::nullopt;
  std::optional<unsent> next{std::move(unsent_.front())};
  unsent_.pop_front();
  return next;
}

} // namespace atelier::actors
