// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/stage_orders.hpp"
#include <atelier/actors/scheduler/scheduler.hpp>
#include <atelier/ipc/heap_store.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

using namespace std::chrono_literals;

/// Returns a profile of "card@4" and "card@2", whose steps take 10 ms.
inline std::shared_ptr<planning::profile> card_profile() {
  auto p = std::make_shared<planning::profile>();
  for (const uint32_t steps : {4u, 2u}) {
    planning::variant_profile v;
    v.model = "card";
    v.name = "card@" + std::to_string(steps);
    v.steps = steps;
    v.native_px = {32, 32};
    v.step = {{1, 32 * 32, 10ms}};
    v.text = 2ms;
    v.decode = 5ms;
    p->variants.push_back(v);
  }
  p->prepare = 1ms;
  p->finish = 3ms;
  return p;
}

/// An order from the scheduler to a worker.
struct sent_work {
  actors::worker_address to;
  actors::work what;
};

/// Returns the ticket that a work is for. The ticket is empty for messages to a
/// worker.
inline core::ticket ticket_of(const actors::work& x) {
  return std::visit(
    [](const auto& y) -> core::ticket {
      if constexpr (requires { y.number; })
        return {};
      else
        return y.ticket;
    },
    x);
}

/// A scheduler between recorders: a test sends the events and looks at the
/// results. Every invariant is checked after every event.
class scheduler_rig {
public:
  struct options {
    std::array<uint32_t, ipc::slot_kinds> slots = {8, 8, 0};
    std::array<uint64_t, ipc::slot_kinds> slot_bytes = {};
    core::limits limits;
    config::scheduler_settings pace;
    std::shared_ptr<const planning::policy> policy;
    std::shared_ptr<const planning::plan> plan;
    /// Null: card_profile.
    std::shared_ptr<planning::profile> profile;
    /// Null: the standard ones.
    std::shared_ptr<const planning::pipeline> stages;
    bool devices_take_found_work = false;
    std::shared_ptr<actors::timeline> drawing;
  };

  scheduler_rig() : scheduler_rig(options{}) {}

  explicit scheduler_rig(options o) {
    profile = o.profile ? o.profile : card_profile();
    policy = o.policy ? o.policy : *planning::make_policy("vanilla");
    store = std::make_shared<ipc::heap_store>(1, o.slots, o.slot_bytes);
    actors::scheduler_config config;
    config.limits = o.limits;
    config.pace = o.pace;
    config.slots = o.slots;
    config.devices_take_found_work = o.devices_take_found_work;
    config.policy = policy;
    config.profile = profile;
    if (o.stages)
      stages = o.stages;
    config.stages = o.stages;
    config.initial_plan = o.plan;
    if (!config.initial_plan)
      config.initial_plan = std::make_shared<const planning::plan>(
        policy->replan({}, *profile, {}, {}));
    actors::scheduler_ports ports;
    ports.slots = store;
    ports.workers = std::make_shared<workers_port>(*this);
    ports.clients = std::make_shared<clients_port>(*this);
    ports.watch = std::make_shared<watch_port>(*this);
    ports.drawing = o.drawing;
    sut.emplace(std::move(config), std::move(ports));
  }

  scheduler_rig(const scheduler_rig&) = delete;
  scheduler_rig& operator=(const scheduler_rig&) = delete;

  // -- events -----------------------------------------------------------------

  /// Runs one event and checks every invariant.
  template <class F>
  void event(F f) {
    f(*sut);
    const auto broken = sut->check();
    BOOST_REQUIRE_MESSAGE(broken.empty(), broken);
  }

  template <class Message>
  void on(const Message& x) {
    event([&](auto& h) { h.on(x, now); });
  }

  /// Submits a request of card@4; `adjust` changes it first.
  template <class F>
  core::request_id submit(F adjust, core::suspicion held = {},
                          bool keeps_suspicion = false) {
    auto what = std::make_shared<core::request>();
    what->id = core::request_id{++last_id};
    what->text.positive = "a red ball";
    what->seed = last_id;
    what->arrived = now;
    adjust(*what);
    const auto id = what->id;
    event([&](auto& h) { h.submit(what, now, held, keeps_suspicion); });
    return id;
  }

  core::request_id submit() {
    return submit([](core::request&) {});
  }

  /// Submits a request with files of these sizes in bytes; `adjust` changes it
  /// first.
  template <class F>
  core::request_id submit_image(F adjust, size_t image = 5, size_t mask = 0) {
    auto source = std::make_shared<core::source_images>();
    source->image.assign(image, 'i');
    source->mask.assign(mask, 'm');
    source->image_px = {100, 50};
    return submit([&](core::request& x) {
      x.source = source;
      x.px = {32, 32};
      adjust(x);
    });
  }

  core::request_id submit_image() {
    return submit_image([](core::request&) {});
  }

  void cancel(core::request_id id) {
    event([&](auto& h) { h.cancel(id, now); });
  }

  void taken(core::request_id id) {
    event([&](auto& h) { h.taken(id, now); });
  }

  void suspect(ipc::process_life who) {
    event([&](auto& h) { h.suspected(who, now); });
  }

  void lose(ipc::process_life who, bool confirmed = true,
            actors::death cause = actors::death::crash) {
    event([&](auto& h) { h.lost(who, confirmed, cause, now); });
  }

  /// An operator kills the process.
  void kill(ipc::process_life who) {
    lose(who, true, actors::death::outside);
  }

  void trial_noted(core::request_id id) {
    event([&](auto& h) { h.trial_noted(id, now); });
  }

  /// Time passes; the scheduler looks at it several times a second.
  void tick(core::timespan later = {}) {
    for (; later > between_ticks; later -= between_ticks)
      jump(between_ticks);
    jump(later);
  }

  /// Time passes while the scheduler does not run.
  void jump(core::timespan later) {
    now += later;
    event([&](auto& h) { h.tick(now); });
  }

  void stop() {
    event([&](auto& h) { h.stop(now); });
  }

  // -- workers ----------------------------------------------------------------

  static constexpr ipc::process_life life(uint32_t process, uint32_t n = 1) {
    return {core::process_id{process}, core::incarnation{n}};
  }

  static actors::worker_address preprocess_at(ipc::process_life where) {
    return {where, actors::role::preprocess, 0};
  }

  static actors::worker_address device_at(ipc::process_life where) {
    return {where, actors::role::denoise_step, 0};
  }

  static actors::worker_address postprocess_at(ipc::process_life where) {
    return {where, actors::role::postprocess, 0};
  }

  /// Announces the CPU process: one preprocess and one postprocess worker.
  void add_cpu(ipc::process_life where = life(1), uint32_t seats = 4) {
    actors::worker_ready x;
    x.seats = seats;
    x.worker = preprocess_at(where);
    on(x);
    x.worker = postprocess_at(where);
    on(x);
  }

  void add_device(ipc::process_life where, uint32_t seats = 4,
                  uint32_t max_batch = 4) {
    actors::worker_ready x;
    x.worker = device_at(where);
    x.seats = seats;
    x.max_batch = max_batch;
    x.device = "cpu";
    x.variants = {"card@4", "card@2"};
    on(x);
  }

  /// Takes the oldest work of type T that was not taken yet.
  template <class T>
  std::optional<std::pair<actors::worker_address, T>> next() {
    for (auto i = sent.begin(); i != sent.end(); ++i)
      if (const auto x = read_as<T>(i->what)) {
        std::pair<actors::worker_address, T> found{i->to, *x};
        sent.erase(i);
        return found;
      }
    return std::nullopt;
  }

  template <class T>
  T take() {
    auto x = next<T>();
    BOOST_REQUIRE(x.has_value());
    return x->second;
  }

  template <class T>
  size_t count() const {
    size_t n = 0;
    for (const auto& x : sent)
      n += read_as<T>(x.what) ? 1u : 0u;
    return n;
  }

  // -- replies ----------------------------------------------------------------

  void done(const test::prepare& x) {
    BOOST_REQUIRE(store->publish(x.state, 1, 0));
    if (x.source) {
      // The files, or the image of an earlier leg, must exist before the work
      // does.
      BOOST_REQUIRE(store->view(x.drawn ? x.drawn : x.files));
      BOOST_REQUIRE(store->publish(x.source, 1, 0));
    }
    reply_prepared(x.who);
  }

  void reply_prepared(core::ticket who, core::error why = {}) {
    test::prepared r;
    r.who = who;
    r.failure = std::move(why);
    on(of_stage("prepare", r.reply()));
  }

  /// Returns a standard stage's reply with its stage's position in the
  /// pipeline.
  actors::stage_done of_stage(std::string_view name,
                              actors::stage_done x) const {
    x.stage = static_cast<uint16_t>(stages->find(name).value());
    return x;
  }

  /// Publishes a state after `steps` steps, and reports it.
  void stepped(const actors::denoise& x, uint32_t steps,
               ipc::process_life where = life(2)) {
    BOOST_REQUIRE(store->publish(x.state, uint64_t{steps} + 1, 0));
    actors::stepped s;
    s.worker = device_at(where);
    s.rows = {{x.ticket, steps, true}};
    on(s);
  }

  void stepping(std::vector<core::ticket> rows,
                ipc::process_life where = life(2)) {
    on(actors::stepping{device_at(where), std::move(rows)});
  }

  void done(const actors::denoise& x) {
    if (x.source)
      BOOST_REQUIRE(store->view(x.source));
    BOOST_REQUIRE(store->publish(x.image, 1, 0));
    reply_denoised(x.ticket);
  }

  void reply_denoised(core::ticket who, core::error why = {}) {
    actors::denoised r;
    r.ticket = who;
    r.failure = std::move(why);
    r.steps_done = 4;
    r.steps_run = 4;
    on(r);
  }

  void done(const test::finish& x) {
    BOOST_REQUIRE(store->publish(x.encoded, 1, 0));
    reply_finished(x.who);
  }

  void reply_finished(core::ticket who, core::error why = {}) {
    test::finished r;
    r.who = who;
    r.failure = std::move(why);
    r.bytes = 7;
    r.sha256 = "sum";
    on(of_stage("finish", r.reply()));
  }

  /// Does all work that was sent, and takes every answer. Returns false if the
  /// work does not end.
  bool work_off() {
    for (int i = 0; i < 10'000; ++i) {
      if (auto p = next<test::prepare>())
        done(p->second);
      else if (auto d = next<actors::denoise>())
        done(d->second);
      else if (auto f = next<test::finish>())
        done(f->second);
      else if (auto c = next<actors::cancel_work>())
        continue;
      else if (const auto ids = std::exchange(untaken, {}); !ids.empty())
        for (const auto id : ids)
          taken(id);
      else
        return true;
    }
    return false;
  }

  // -- the results ------------------------------------------------------------

  /// Returns the only answer to a request; fails without an answer.
  const actors::answer& answer_to(core::request_id id) {
    BOOST_REQUIRE(answers.count(id) == 1);
    return answers.at(id);
  }

  bool answered(core::request_id id) const {
    return answers.count(id) != 0;
  }

  core::ec failure_of(core::request_id id) {
    return answer_to(id).failure.code;
  }

  uint32_t free_slots(ipc::slot_kind kind) const {
    return sut->keeper().census(kind).free;
  }

  /// Returns whether nothing remains of any request.
  bool quiet() const {
    return sut->rows() == 0
        && free_slots(ipc::slot_kind::state)
             == sut->keeper().count(ipc::slot_kind::state)
        && free_slots(ipc::slot_kind::image)
             == sut->keeper().count(ipc::slot_kind::image);
  }

  static constexpr core::timespan between_ticks = 250ms;
  core::time_point now{1h};
  uint64_t last_id = 0;
  std::shared_ptr<planning::profile> profile;
  std::shared_ptr<const planning::policy> policy;
  std::shared_ptr<ipc::heap_store> store;
  std::shared_ptr<const planning::pipeline> stages =
    *actors::standard_pipeline();
  /// Whether a work is larger than what the way to its worker takes.
  std::function<bool(const actors::work&)> refuses;
  std::vector<sent_work> sent;
  std::map<core::request_id, actors::answer> answers;
  /// Requests answered with an image that `work_off` has not taken yet.
  std::vector<core::request_id> untaken;

  struct progress {
    core::request_id id;
    uint32_t steps_done;
    uint32_t steps;
    ipc::slot_ref state = {};

    friend bool operator==(const progress&, const progress&) = default;
  };

  std::vector<progress> told;

  struct note {
    core::request_id id;
    core::suspicion how;
    bool waits = false;
  };

  /// The notes that clients must write down.
  std::vector<note> notes;
  std::vector<ipc::process_life> suspects;
  /// The reasons, in the same order.
  std::vector<std::string> reasons;
  /// Processes that requests ended.
  std::vector<ipc::process_life> blamed;
  std::vector<planning::cluster_view> clusters;
  std::optional<actors::scheduler> sut;

private:
  struct workers_port : actors::handoff {
    explicit workers_port(scheduler_rig& x) : rig(x) {}

    core::result<void> send(const actors::worker_address& to,
                            actors::work what) override {
      if (rig.refuses && rig.refuses(what))
        return core::fail(core::ec::invalid_argument, "too large");
      rig.sent.push_back({to, std::move(what)});
      return {};
    }

    scheduler_rig& rig;
  };

  struct clients_port : actors::gateway {
    explicit clients_port(scheduler_rig& x) : rig(x) {}

    void answered(actors::answer what) override {
      const auto id = what.request->id;
      if (what.image)
        rig.untaken.push_back(id);
      const auto first = rig.answers.emplace(id, std::move(what)).second;
      BOOST_REQUIRE_MESSAGE(first, "request " << id.value << " answered twice");
    }

    void progressed(core::request_id id, uint32_t steps_done, uint32_t steps,
                    ipc::slot_ref state) override {
      rig.told.push_back({id, steps_done, steps, state});
    }

    void suspected(core::request_id id, core::suspicion how,
                   bool waits) override {
      rig.notes.push_back({id, how, waits});
    }

    scheduler_rig& rig;
  };

  struct watch_port : actors::supervision {
    explicit watch_port(scheduler_rig& x) : rig(x) {}

    void suspect(ipc::process_life who, std::string why) override {
      rig.suspects.push_back(who);
      rig.reasons.push_back(std::move(why));
    }

    void request_caused(ipc::process_life who) override {
      rig.blamed.push_back(who);
    }

    void cluster_changed(planning::cluster_view there) override {
      rig.clusters.push_back(std::move(there));
    }

    scheduler_rig& rig;
  };
};

} // namespace atelier::test
