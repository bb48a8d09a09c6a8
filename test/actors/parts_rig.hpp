// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/recording_ports.hpp"
#include "actors/scheduler_rig.hpp"
#include <atelier/actors/scheduler/deliveries.hpp>
#include <atelier/actors/scheduler/inspection.hpp>
#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/actors/scheduler/queueing.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::test {

/// Vanilla, except where a test chooses the route or the queue.
struct parts_policy : planning::vanilla {
  planning::choice choose(const planning::decision_context& by) const override {
    return choosing ? choosing(by.known) : vanilla::choose(by);
  }

  core::queue_id place(const planning::leg& next,
                       const planning::decision_context& by) const override {
    return placing ? placing(by) : vanilla::place(next, by);
  }

  std::function<planning::choice(const planning::facts&)> choosing;
  std::function<core::queue_id(const planning::decision_context&)> placing;
};

/// The parts of a scheduler between recorders, with the two lowest layers. A
/// test brings them into a state by their own verbs, for the readers and for
/// the layers above.
class parts_rig {
public:
  struct options {
    actors::slot_counts slots = {8, 8, 0};
    core::limits limits;
    config::scheduler_settings pace;
    /// Null: card_profile.
    std::shared_ptr<planning::profile> profile;
    /// Null: the standard ones.
    std::shared_ptr<const planning::pipeline> stages;
    /// Changes vanilla's plan.
    std::function<void(planning::plan&)> adjust;
    /// Bytes of a slot by kind; 0: slots keep none.
    std::array<uint64_t, ipc::slot_kinds> slot_bytes = {};
    /// Null: no timeline is drawn.
    std::shared_ptr<actors::timeline> drawing;
    bool devices_take_found_work = false;
  };

  parts_rig() : parts_rig(options{}) {}

  explicit parts_rig(const options& o)
    : profile(o.profile ? o.profile : card_profile()),
      store(std::make_shared<ipc::heap_store>(1, o.slots, o.slot_bytes)),
      workers_(std::make_shared<recording_workers>()),
      clients_(std::make_shared<recording_clients>()),
      watch_(std::make_shared<recording_watch>()),
      of(config_of(o), {store, workers_, clients_, watch_, o.drawing}),
      out(of),
      waiting(of) {}

  // -- workers ----------------------------------------------------------------

  static constexpr ipc::process_life life(uint32_t process) {
    return scheduler_rig::life(process);
  }

  /// Announces a worker of a device which hosts both variants; `adjust` changes
  /// the announcement first.
  template <class F>
  actors::worker& device(uint32_t process, F adjust) {
    actors::worker_ready x;
    x.worker = {life(process), actors::role::denoise_step, 0};
    x.seats = x.max_batch = 4;
    x.device = "cpu";
    x.variants = {"card@4", "card@2"};
    adjust(x);
    return announce(x);
  }

  actors::worker& device(uint32_t process) {
    return device(process, [](actors::worker_ready&) {});
  }

  /// Announces a worker of a pool.
  actors::worker& pool(actors::role what, uint32_t process = 1,
                       uint32_t seats = 4) {
    actors::worker_ready x;
    x.worker = {life(process), what, 0};
    x.seats = seats;
    return announce(x);
  }

  actors::worker& announce(const actors::worker_ready& x) {
    auto* w = of.workers.announce(x, *profile, now);
    BOOST_REQUIRE(w != nullptr);
    if (w->on_device())
      of.forecast.came(w->kind());
    return *w;
  }

  // -- rows -------------------------------------------------------------------

  /// Accepts a request of the first variant; `adjust` changes it first.
  template <class F>
  actors::row& accept(F adjust) {
    auto what = std::make_shared<core::request>();
    what->id = core::request_id{++last_id};
    what->text.positive = "a red ball";
    what->seed = last_id;
    what->px = {32, 32};
    what->arrived = now;
    adjust(*what);
    of.records.count(&actors::counters::arrived);
    auto& r = of.requests.accept(std::move(what));
    r.course.begin(*r.request, *profile, of.rules.plan(),
                   of.rules.route_slots());
    of.records.accepted(*r.request);
    return r;
  }

  actors::row& accept() {
    return accept([](core::request&) {});
  }

  actors::row& accept(core::tenant_id whose) {
    return accept([&](core::request& x) { x.tenant = whose; });
  }

  /// Makes a request bring an image.
  static void bring_image(core::request& x) {
    auto source = std::make_shared<core::source_images>();
    source->image.assign(5, 'i');
    source->image_px = {100, 50};
    x.source = std::move(source);
  }

  /// Takes a route of the plan in force, and begins its first leg.
  void route(actors::row& r, core::route_id along = core::route_id{0},
             std::optional<uint32_t> match = {}) {
    r.course.choose(along, match, of.rules.plan(), of.rules.route_slots());
    if (!r.course.route().legs.empty())
      r.course.begin_leg(0);
  }

  /// Puts a row at a stage, which it neither waits for nor runs.
  void enter(actors::row& r, std::string_view stage) {
    const auto at = of.path.stages().find(stage).value();
    r.course.enter(at, of.path.phase_of(at));
  }

  /// Gives a row what `prepare` writes: a state before its first step, and a
  /// source if it brings an image. Then it is at `denoise`.
  void prepare(actors::row& r) {
    enter(r, "prepare");
    std::vector<planning::held> names{planning::held::state};
    if (r.request->source)
      names.push_back(planning::held::source);
    write(r, names);
    enter(r, "denoise");
  }

  /// Makes a row hold new slots of these names, which the stage where it is
  /// published.
  void write(actors::row& r, const std::vector<planning::held>& names) {
    const auto who = ticket_of_next(r);
    of.requests.count_aside(r);
    BOOST_REQUIRE(of.slots.grant(who, life(99), names, {}) != nullptr);
    for (const auto& slot : of.slots.of(who).granted.slots)
      if (slot)
        BOOST_REQUIRE(store->publish(slot, 1, 0));
    BOOST_REQUIRE(of.slots.keep(r.held, of.slots.conclude(who),
                                r.course.phase(), "test", 99));
  }

  /// Makes a row wait in the queue of its stage.
  void wait(actors::row& r,
            actors::queues::end at = actors::queues::end::back) {
    waiting.wait(id_of(r), r, now, at);
  }

  /// Accepts a row that waits to be prepared.
  template <class F>
  actors::row& waits_to_prepare(F adjust) {
    auto& r = accept(adjust);
    route(r);
    enter(r, "prepare");
    wait(r);
    return r;
  }

  actors::row& waits_to_prepare() {
    return waits_to_prepare([](core::request&) {});
  }

  /// Accepts a row that is prepared and waits for a device.
  template <class F>
  actors::row& waits_to_draw(F adjust, core::route_id along = {}) {
    auto& r = accept(adjust);
    route(r, along);
    prepare(r);
    wait(r);
    return r;
  }

  actors::row& waits_to_draw(core::tenant_id whose) {
    return waits_to_draw([&](core::request& x) { x.tenant = whose; });
  }

  actors::row& waits_to_draw() {
    return waits_to_draw([](core::request&) {});
  }

  /// Makes a row run at a worker: an order with a seat and its stage's slots.
  core::ticket run(actors::row& r, actors::worker& w, bool alone = false) {
    using planning::held;
    const auto id = id_of(r);
    const auto who = ticket_of_next(r);
    const auto phase = r.course.phase();
    const auto life = w.address.process;
    std::vector<held> names;
    if (phase == core::phase::denoising)
      names = {held::state, held::pixels};
    else
      names = {phase == core::phase::preparing ? held::state : held::encoded};
    BOOST_REQUIRE(of.slots.grant(who, life, names, {}) != nullptr);
    if (phase == core::phase::denoising)
      of.slots.read(who, life, held::state, r.held[held::state]);
    actors::dispatched x;
    x.worker = w.id();
    x.tenant = r.request->tenant;
    x.stage = r.course.stage();
    x.phase = phase;
    x.variant = r.course.recipe().variant;
    x.since = now;
    x.alone = alone;
    if (phase == core::phase::denoising) {
      x.steps = core::steps_to_run(r.course.recipe());
      x.masked = r.course.masked_as_it_runs();
      x.steps_left = actors::steps_left(r);
      x.steps_before = x.steps_done = r.held.steps();
    }
    waiting.leave_for_worker(id, r, r.course.recipe().variant, now);
    of.requests.run(r);
    w.seat.sit(who, x.steps_left);
    of.orders.add(who, std::move(x), {1s, 2s}, now);
    of.workers.view_changed(w);
    return who;
  }

  /// Accepts a row and makes it run at a device.
  core::ticket draws_at(actors::worker& w, core::tenant_id whose = {},
                        core::route_id along = {}) {
    return run(
      waits_to_draw([&](core::request& x) { x.tenant = whose; }, along), w);
  }

  /// Ends an order without its result: its row waits again.
  void lose(core::ticket who) {
    const auto was = of.orders.end(who);
    BOOST_REQUIRE(was.has_value());
    auto& w = of.workers.at(was->worker);
    w.seat.stand_up(who, was->steps_left);
    of.workers.view_changed(w);
    of.slots.discard(of.slots.conclude(who));
    if (auto* r = of.requests.running(who))
      wait(*r, actors::queues::end::front);
  }

  /// Makes the pace of a variant known: it is as fast as its profile says.
  void measure(core::variant_id v, const actors::worker& w) {
    actors::steps_run x{w.view(), {v}, v, {32, 32}};
    x.steps = 1;
    x.took = 10ms;
    of.forecast.ran(x, now);
  }

  /// Follows another plan, which `adjust` makes of vanilla's.
  template <class F>
  void follow(F adjust) {
    auto next = policy->replan({}, *profile, {}, *of.rules.plan());
    adjust(next);
    BOOST_REQUIRE(
      of.rules.follow(std::make_shared<const planning::plan>(std::move(next)),
                      of.path.stages(), now));
  }

  /// Makes rows that no variant binds wait in this queue from now on.
  void place_in(core::queue_id queue) {
    policy->placing = [queue](const planning::decision_context&) {
      return queue;
    };
  }

  /// A process that worked on a request alone, or beside others, ended: the
  /// request is a suspect from now on.
  void accuse(const actors::row& r, bool was_alone = false) {
    of.suspicions.lost(id_of(r), {true, was_alone, false}, actors::place_of(r));
  }

  /// A device fails to load a variant that it does not host: its next attempt
  /// is due in a second.
  void fail_to_load(actors::worker& w, core::variant_id v) {
    const gpu::load_failure failed[] = {
      {v, core::fail(core::ec::unavailable, "no such file")}};
    of.hosting.joined(w, failed, now);
    of.workers.members_changed();
  }

  // -- what can be seen -------------------------------------------------------

  static core::request_id id_of(const actors::row& r) {
    return r.request->id;
  }

  static core::ticket ticket_of_next(const actors::row& r) {
    return {id_of(r), r.next_dispatch()};
  }

  actors::inspection inspected() const {
    return actors::inspection{{of.rules, of.records, of.requests, of.questions,
                               of.suspicions, of.orders, of.workers, of.queues,
                               of.slots, of.hosting, of.forecast, of.views}};
  }

  std::string check() const {
    return inspected().check();
  }

  /// Takes all works of type T that were sent.
  template <class T>
  std::vector<T> take_sent() {
    return workers_->take<T>();
  }

  std::vector<actors::answer>& answers() {
    return clients_->answers;
  }

  std::vector<planning::cluster_view>& reports() {
    return watch_->reports;
  }

  /// Makes every work too large for its way from now on.
  void send_nothing() {
    workers_->refuses = true;
  }

  /// Is called with every answer, when it leaves.
  void on_answer(std::function<void(const actors::answer&)> f) {
    clients_->on_answer = std::move(f);
  }

  core::time_point now{1h};
  uint64_t last_id = 0;
  std::shared_ptr<planning::profile> profile;
  std::shared_ptr<parts_policy> policy = std::make_shared<parts_policy>();
  std::shared_ptr<ipc::heap_store> store;

private:
  actors::scheduler_config config_of(const options& o) const {
    actors::scheduler_config x;
    x.limits = o.limits;
    x.pace = o.pace;
    x.slots = o.slots;
    x.stages = o.stages;
    x.devices_take_found_work = o.devices_take_found_work;
    x.policy = policy;
    x.profile = profile;
    auto plan = policy->replan({}, *profile, {}, {});
    if (o.adjust)
      o.adjust(plan);
    x.initial_plan = std::make_shared<const planning::plan>(std::move(plan));
    return x;
  }

protected:
  std::shared_ptr<recording_workers> workers_;
  std::shared_ptr<recording_clients> clients_;
  std::shared_ptr<recording_watch> watch_;

public:
  actors::parts of;
  actors::deliveries out;
  actors::queueing waiting;
};

} // namespace atelier::test
