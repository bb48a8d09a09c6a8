// SPDX-License-Identifier: Apache-2.0

// The way of an order to its worker, and its end without an answer:
//
//   too large to leave          ends at once
//   nothing heard for its time  ask_order
//   has_order, no               it or its answer was lost: it is tried again
//   asked, no answer            the worker's silence ends its process; in the
//                               control process the request continues alone

#include <atelier/actors/hub.hpp>
#include <atelier/core/log.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

// -- leaving ------------------------------------------------------------------

void hub::hand_over(core::ticket who, dispatched x, worker& w,
                    core::timespan takes, core::time_point now) {
  const auto ran = running(now);
  if (w.seat.taken() == 0)
    w.signs.begin(ran);
  const auto explained = [&](uint32_t orders) {
    return core::from_seconds(orders * core::to_seconds(takes)
                              * config_.processes.step_factor);
  };
  const auto silence = config_.processes.silence;
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

void hub::tell(const worker& w, work what) {
  if (auto sent = ports_.workers->send(w.address, std::move(what)); !sent)
    core::log_error("{} {}: {}", to_string(w.address.role), w.address.index,
                    core::to_string(sent.why()));
}

void hub::send(const worker& w, core::ticket who, work what) {
  if (auto sent = ports_.workers->send(w.address, std::move(what)); !sent)
    unsent_.emplace_back(who, std::move(sent).why());
}

void hub::end_unsent(core::time_point now) {
  while (!unsent_.empty()) {
    const auto [who, error] = std::move(unsent_.front());
    unsent_.pop_front();
    concluded done;
    if (!conclude(who, now, done))
      continue;
    const auto why = core::fail(error.code, "the order of stage '{}': {}",
                                path_.at(done.stage).row().name, error.text);
    give_up(who, done, why, loss::told, now);
  }
}

void hub::give_up(core::ticket who, const concluded& x, const core::error& why,
                  loss how, core::time_point now) {
  if (x.side) {
    slots_.discard(x.slots);
    stage_done nothing;
    nothing.ticket = who;
    return aside_over(nothing, x, why, now);
  }
  auto* r = requests_.running(who);
  if (r == nullptr)
    return slots_.discard(x.slots);
  note_returned(who.id, x, why, now);
  fall_back(who.id, *r, x, why, how, now);
}

// -- without an answer --------------------------------------------------------

void hub::ask_about_orders(core::time_point now) {
  for (const auto who : orders_.unanswered(running(now)))
    if (workers_.at(orders_.at(who).worker).address.process
        == ipc::process_life{})
      order_abandoned(who, now);
  for (const auto who : orders_.overdue(running(now)))
    if (const auto& w = workers_.at(orders_.at(who).worker); !w.suspected())
      tell(w, ask_order{who});
}

void hub::on(const has_order& x, core::time_point now) {
  const auto* of = orders_.find(x.ticket);
  if (of == nullptr || !orders_.is_asked(x.ticket)) {
    records_.stale_reply();
    return settle(now);
  }
  // A pool's worker answers after all earlier orders. A device's actor
  // answers for itself only: its device may hang.
  if (auto& w = workers_.at(of->worker); !w.on_device())
    w.signs.heard(running(now));
  if (x.has)
    orders_.renew(x.ticket, running(now));
  else
    order_lost(x.ticket, now);
  settle(now);
}

void hub::order_lost(core::ticket who, core::time_point now) {
  concluded done;
  if (!conclude(who, now, done, false))
    return;
  records_.order_lost();
  auto& w = workers_.at(done.worker);
  auto why = core::fail(core::ec::unavailable,
                        "an order to {} {}, or its answer, was lost",
                        to_string(w.address.role), w.address.index);
  core::log_warn("request {}, attempt {}: {}", who.id.value, who.attempt,
                 why.text);
  auto* r = done.side ? nullptr : requests_.running(who);
  const auto how = r == nullptr ? loss::unanswered : note_lost(*r, w, why);
  give_up(who, done, why, how, now);
}

hub::loss hub::note_lost(row& r, worker& w, core::error& why) {
  if (suspicions_.unanswered(r.request->id) == 1)
    return loss::unanswered;
  if (w.address.process == ipc::process_life{})
    why.code = core::ec::internal;
  else if (w.signs.lose_orders())
    ports_.watch->suspect(w.address.process, why.text);
  return loss::suspicious;
}

void hub::order_abandoned(core::ticket who, core::time_point now) {
  const auto& order = orders_.at(who);
  auto* r = order.side ? nullptr : requests_.running(who);
  if (r == nullptr)
    return;
  records_.order_lost();
  auto& w = workers_.at(order.worker);
  auto why = core::fail(core::ec::unavailable, "{} {} does not respond",
                        to_string(w.address.role), w.address.index);
  core::log_warn("request {}, attempt {}: {}", who.id.value, who.attempt,
                 why.text);
  if (order.phase == phase::preparing)
    requests_.count_ahead(order.tenant, false);
  // From now on it moves no row, and keeps its slots. If it published, the row
  // has no state left.
  concluded without{order, {}};
  without.slots.published =
    order.phase == phase::denoising && slots_.of(who).published;
  orders_.abandon(who);
  const auto how = note_lost(*r, w, why);
  note_returned(who.id, without, why, now);
  fall_back(who.id, *r, without, why, how, now);
}

} // namespace atelier::actors
