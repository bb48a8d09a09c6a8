// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/scheduler.hpp>
#include <atelier/planning/demand/request_work.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace atelier::actors {

namespace {

constexpr ipc::process_life control_life{};

// Counts how the size and steps of a request change the work of each variant.
void count_own_work(const core::request& wanted, const forecast& predicts,
                    size_t variants, records& into) {
  if (!planning::has_own_work(wanted))
    return;
  for (uint32_t i = 0; i < variants; ++i) {
    const core::variant_id v{i};
    into.extra_work(v, predicts.extra_work(v, wanted),
                    predicts.extra_pixels(v, wanted));
  }
}

} // namespace

scheduler::scheduler(scheduler_config config, scheduler_ports ports)
  : of_(std::move(config), std::move(ports)),
    inspection_({of_.rules, of_.records, of_.requests, of_.questions,
                 of_.suspicions, of_.orders, of_.workers, of_.queues, of_.slots,
                 of_.hosting, of_.forecast, of_.views}),
    deliveries_(of_),
    queueing_(of_),
    routing_(of_),
    asides_(of_, deliveries_),
    endings_(of_, deliveries_, queueing_, asides_),
    lifecycle_(of_, queueing_, routing_, asides_, endings_),
    placement_(of_, deliveries_, queueing_, lifecycle_),
    maker_(of_, routing_),
    dispatcher_(of_, deliveries_, queueing_, lifecycle_, placement_, maker_),
    losses_(of_, deliveries_, queueing_, lifecycle_, placement_),
    replies_(of_, deliveries_, queueing_, lifecycle_, endings_, placement_,
             losses_) {}

// -- clients ------------------------------------------------------------------

std::optional<routing::refusal> scheduler::refusal_of(
  const core::request& x) const {
  using core::ec;
  if (of_.requests.stopping())
    return routing::refusal{core::fail(ec::stopping, "the engine is stopping")};
  if (of_.requests.find(x.id) != nullptr)
    return routing::refusal{
      core::fail(ec::internal, "request {} is already known", x.id.value)};
  if (auto why = of_.requests.too_much(x))
    return routing::refusal{std::move(*why), routing_.retry_after()};
  if (x.source && x.source->bytes() != 0)
    if (auto why = of_.slots.too_few_for_source())
      return routing::refusal{std::move(*why)};
  return std::nullopt;
}

void scheduler::submit(std::shared_ptr<const core::request> what,
                       core::time_point now, core::suspicion held,
                       bool keeps_suspicion) {
  const auto& costs = *of_.config.profile;
  of_.records.count(&counters::arrived);
  count_own_work(*what, of_.forecast, costs.variants.size(), of_.records);
  if (auto no = refusal_of(*what))
    return endings_.refuse(std::move(what), std::move(no->why), no->retry_after,
                           now);
  const auto id = what->id;
  auto& r = of_.requests.accept(std::move(what));
  r.account.begin(r.request->notes);
  r.course.begin(*r.request, costs, of_.rules.plan(), of_.rules.route_slots());
  of_.suspicions.accept(id, held, keeps_suspicion);
  of_.records.accepted(*r.request);
  asides_.probe(r.request, now);
  lifecycle_.begin(id, r, now);
  settle(now);
}

void scheduler::trial_noted(core::request_id id, core::time_point now) {
  if (!of_.suspicions.recorded(id))
    return;
  if (const auto queue = of_.queues.where(id))
    of_.queues.touch(*queue);
  settle(now);
}

void scheduler::cancel(core::request_id id, core::time_point now) {
  auto* r = of_.requests.find(id);
  if (r == nullptr || is_terminal(r->state()))
    return;
  endings_.fail(id, *r, row_state::cancelled,
                core::fail(core::ec::cancelled, "the request was cancelled"),
                now);
  settle(now);
}

void scheduler::taken(core::request_id id, core::time_point now) {
  const auto* r = of_.requests.find(id);
  if (r == nullptr || r->state() != row_state::answered)
    return;
  of_.slots.taken(id, r->held);
  of_.requests.forget(id);
  settle(now);
}

// -- workers ------------------------------------------------------------------

void scheduler::on(const worker_ready& x, core::time_point now) {
  if (replies_.on(x, now))
    settle(now);
}

void scheduler::on(const stage_done& x, core::time_point now) {
  if (replies_.on(x, now))
    settle(now);
}

void scheduler::on(const stepping& x, core::time_point now) {
  replies_.on(x, now);
}

void scheduler::on(const stepped& x, core::time_point now) {
  if (replies_.on(x, now))
    settle(now);
}

void scheduler::on(const denoised& x, core::time_point now) {
  if (replies_.on(x, now))
    settle(now);
}

void scheduler::on(const adopted& x, core::time_point now) {
  if (placement_.on(x, now))
    settle(now);
}

void scheduler::on(const has_order& x, core::time_point now) {
  losses_.on(x, now);
  settle(now);
}

void scheduler::on(const wish_hosting& x, core::time_point now) {
  if (placement_.on(x, now))
    settle(now);
}

void scheduler::suspected(ipc::process_life who, core::time_point now) {
  losses_.suspected(who, now);
  settle(now);
}

void scheduler::lost(ipc::process_life who, bool confirmed, death cause,
                     core::time_point now) {
  losses_.lost(who, confirmed, cause, now);
  settle(now);
}

// -- plans and time -----------------------------------------------------------

void scheduler::publish(std::shared_ptr<const planning::plan> what,
                        core::time_point now) {
  if (!of_.rules.follow(std::move(what), of_.path.stages(), now))
    return;
  of_.forecast.follow(*of_.rules.plan(), cluster());
  if (placement_.follow_plan(now))
    of_.ports.watch->cluster_changed(cluster());
  settle(now);
}

void scheduler::tick(core::time_point now) {
  while (const auto id = of_.requests.due(now))
    lifecycle_.expire(*id, of_.requests.at(*id), now);
  while (const auto id = of_.questions.late(now))
    lifecycle_.questions_over(*id, of_.requests.at(*id), now);
  losses_.ask_about_orders(now);
  report_silence(now);
  of_.requests.set_time(now);
  if (of_.requests.forget_departed())
    for (auto& [id, w] : of_.workers.all())
      if (w.on_device())
        deliveries_.offer(w);
  placement_.retry_loads(now);
  settle(now);
}

void scheduler::report_silence(core::time_point now) {
  const auto ran = deliveries_.running_time(now);
  for (auto& [id, w] : of_.workers.all()) {
    if (w.seat.taken() == 0 || w.address.process == control_life
        || of_.matching.waits_for_other(w))
      continue;
    if (const auto silent = w.signs.unexplained(ran)) {
      w.signs.report();
      of_.ports.watch->suspect(w.address.process,
                               fmt::format("{} {} did not respond for {:.1f} s",
                                           to_string(w.address.role),
                                           w.address.index,
                                           core::to_seconds(*silent)));
    }
  }
}

bool scheduler::wants_tick() const {
  return of_.requests.timed() || of_.questions.any() || !of_.orders.empty()
      || of_.hosting.waits();
}

void scheduler::stop(core::time_point now) {
  of_.requests.stop();
  std::vector<core::request_id> ids;
  for (const auto& [id, r] : of_.requests.all())
    if (!is_terminal(r.state()))
      ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const auto id : ids) {
    auto& r = of_.requests.at(id);
    // An unfinished trial does not count.
    if (const auto x = of_.suspicions.take_trial_back(id, place_of(r)))
      of_.ports.clients->suspected(id, *x, false);
    endings_.fail(id, r, row_state::failed,
                  core::fail(core::ec::stopping, "the engine is stopping"),
                  now);
  }
  settle(now);
}

void scheduler::settle(core::time_point now) {
  of_.requests.set_time(now);
  do
    dispatcher_.pump(now);
  while (losses_.end_unsent(now));
}

// -- inspection ---------------------------------------------------------------

const planning::cluster_view& scheduler::cluster() const {
  return of_.views.cluster();
}

scheduler_status scheduler::status() const {
  return inspection_.status(*of_.config.profile);
}

recovery_counts scheduler::recovery(core::time_point now) const {
  return of_.records.recovery(now);
}

const counters& scheduler::counts() const {
  return of_.records.counts();
}

const ipc::keeper& scheduler::keeper() const {
  return of_.slots.keeper();
}

size_t scheduler::rows() const {
  return of_.requests.all().size();
}

std::optional<size_t> scheduler::stage_of(core::request_id id) const {
  const auto* r = of_.requests.find(id);
  if (r == nullptr || r->state() == row_state::asking)
    return std::nullopt;
  return r->course.stage();
}

std::string scheduler::check() const {
  return inspection_.check();
}

} // namespace atelier::actors
