// SPDX-License-Identifier: Apache-2.0

// Random schedules of the hub's tables alone: processes are a few lines each,
// so that very many schedules are run. random_system_test runs the real actors.
// One schedule alone: ATELIER_TEST_SEED=<seed> ATELIER_TEST_SCHEDULE=<number>.
// Long, because the model of the world and its laws are read together.

#include "actors/hub_rig.hpp"
#include "actors/watched_slots.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <cstdlib>
#include <deque>
#include <set>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::death;
using core::ec;
using core::phase;

// One row in a device.
struct device_row {
  actors::denoise what;
  uint32_t steps_done = 0;
  bool published = false;
  bool cancelled = false;
};

// One life of a process, or the time between two.
struct process {
  uint32_t index = 0;
  uint32_t life = 0;
  bool device = false;
  uint32_t max_batch = 1;
  uint32_t publish_every = 1;
  bool alive = false;
  bool hung = false;
  bool suspected = false;
  bool lost = false;
  // Where it is not alive.
  death cause = death::outside;
  // The workers that the hub found silent; none: the supervisor did.
  std::set<actors::role> silent;
  std::deque<std::pair<actors::worker_address, actors::work>> inbox;
  std::deque<actors::report> outbox;
  std::map<core::ticket, device_row> rows;
  std::vector<core::ticket> told;
  // As the hub knows them.
  std::vector<core::ticket> heard;
  std::set<core::ticket> outstanding;
  // Of a pool's worker, in order.
  std::map<actors::role, std::deque<core::ticket>> orders;
  // Those of its workers that the hub took on.
  std::set<actors::role> there;

  ipc::process_life who() const {
    return {core::process_id{index}, core::incarnation{life}};
  }
};

bool succeeded(const actors::report& x) {
  return std::visit(
    [](const auto& y) {
      if constexpr (requires { y.failure; })
        return y.failure.code == ec::none;
      else
        return false;
    },
    x);
}

core::ticket ticket_of(const actors::report& x) {
  if (const auto p = test::read_as<test::prepared>(x))
    return p->who;
  if (const auto* d = std::get_if<actors::denoised>(&x))
    return d->who;
  if (const auto f = test::read_as<test::finished>(x))
    return f->who;
  return {};
}

// Vanilla, but for requests that find pictures: these are answered with one.
struct finding_policy : planning::vanilla {
  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override {
    auto next = vanilla::replan(asked, known, there, previous);
    planning::route r;
    r.name = "picture";
    r.from = planning::origin::image;
    next.routes.push_back(r);
    return next;
  }

  planning::choice choose(const planning::decision_context& by) const override {
    const auto& known = by.known;
    if (!known.near && !by.wanted.source) {
      planning::need n;
      n.near = true;
      return n;
    }
    if (known.near && !known.near->empty())
      return planning::go{
        core::route_id{static_cast<uint32_t>(by.in_force.routes.size() - 1)},
        0};
    return vanilla::choose(by);
  }
};

class schedule {
public:
  schedule(uint64_t number)
    : random_(test::seed(), core::purpose::test, core::request_id{number}) {
    test::hub_rig::options o;
    roomy_ = chance(40);
    o.slots = {2 + pick(4), 2 + pick(4), 0};
    if (roomy_)
      o.slots = {256, 256, 0};
    o.pace.attempts = pick(4) == 0 ? 3 : 20;
    o.limits.requests = 4 + pick(16);
    o.limits.sources_bytes = 10 + pick(60);
    image_slots_ = o.slots[1];
    sources_ = pick(3) * 40;
    const bool finds = !roomy_ && chance(30);
    if (finds) {
      o.policy = std::make_shared<finding_policy>();
      o.facts = questions_ = std::make_shared<finder>(*this);
    }
    rig_.emplace(o);
    if (finds)
      rig_->profile->reuse.emplace().full = core::variant_id{0};
    const auto devices = 1 + pick(3);
    for (uint32_t i = 1; i <= devices + 1; ++i) {
      process p;
      p.index = i;
      p.device = i > 1;
      p.max_batch = 1 + pick(3);
      p.publish_every = 1 + pick(3);
      processes_.push_back(std::move(p));
      start(processes_.back());
    }
    most_requests_ = 1 + pick(20);
    faults_ = pick(4) != 0;
  }

  void run() {
    const auto events = 20 + pick(200);
    for (uint32_t i = 0; i < events; ++i)
      act();
    calm();
  }

  const actors::counters& counts() const {
    return rig_->sut->counts();
  }

  size_t with_source() const {
    return with_source_;
  }

  size_t found() const {
    return found_;
  }

  size_t trials() const {
    return trials_;
  }

  size_t held_before() const {
    return held_before_;
  }

  // Whether a request was poison in that phase.
  bool met_poison(phase at) const {
    const auto* const text = at == phase::preparing ? "preparing it"
                           : at == phase::denoising ? "running it"
                                                    : "encoding its";
    return std::any_of(
      rig_->answers.begin(), rig_->answers.end(), [&](const auto& x) {
        return x.second.failure.code == ec::poison
            && x.second.failure.text.find(text) != std::string::npos;
      });
  }

private:
  uint32_t pick(uint64_t n) {
    return static_cast<uint32_t>(random_.below(n));
  }

  // What is near is told later, or never; a picture may have gone until then.
  struct finder : actors::fact_finder {
    explicit finder(schedule& x) : of(x) {}

    void find(std::shared_ptr<const core::request> what, planning::need,
              uint32_t question) override {
      asked.push_back({what->id, question});
    }

    bool give_picture(uint64_t, core::extent, ipc::slot_ref into) override {
      return of.chance(70)
          && static_cast<bool>(of.rig_->store->publish(into, 1, 0));
    }

    bool give_state(uint64_t, uint32_t steps, ipc::slot_ref into) override {
      return of.chance(70)
          && static_cast<bool>(of.rig_->store->publish(into, steps + 1, 0));
    }

    schedule& of;
    std::deque<std::pair<core::request_id, uint32_t>> asked;
  };

  bool chance(uint32_t percent) {
    return pick(100) < percent;
  }

  process& any_process() {
    return processes_[pick(processes_.size())];
  }

  // -- the hub's events -------------------------------------------------------

  template <class F>
  void event(F f) {
    rig_->event(f);
    collect();
  }

  // Hands what the hub sent to the processes, and looks at its answers.
  void collect() {
    for (auto& x : std::exchange(rig_->sent, {})) {
      const auto wrong = slots_.handed_off(x.to, x.what);
      BOOST_REQUIRE_MESSAGE(wrong.empty(), wrong);
      auto& p = processes_.at(x.to.where.process.value - 1);
      BOOST_REQUIRE_MESSAGE(x.to.where == p.who() && !p.lost,
                            "work for a life that is over");
      if (!std::holds_alternative<actors::cancel_work>(x.what)) {
        const auto who = test::ticket_of(x.what);
        BOOST_REQUIRE(!p.suspected);
        handed_off(p, who, test::phase_of(x.what));
        p.outstanding.insert(who);
        if (!p.device)
          p.orders[x.to.what].push_back(who);
      }
      if (p.alive)
        p.inbox.emplace_back(x.to, std::move(x.what));
    }
    for (const auto id : std::exchange(rig_->untaken, {}))
      untaken_.push_back(id);
    for (auto& x : std::exchange(rig_->notes, {}))
      if (x.waits)
        unwritten_.push_back(x.id);
    const auto reasons = std::exchange(rig_->reasons, {});
    const auto suspects = std::exchange(rig_->suspects, {});
    for (size_t i = 0; i < suspects.size(); ++i)
      if (auto& p = processes_.at(suspects[i].process.value - 1);
          p.who() == suspects[i] && !p.lost)
        for (const auto what :
             {actors::role::preprocess, actors::role::postprocess,
              actors::role::denoise_step})
          if (reasons[i].starts_with(actors::to_string(what)))
            p.silent.insert(what);
    for (const auto who : suspects)
      if (auto& p = processes_.at(who.process.value - 1);
          p.who() == who && !p.suspected)
        suspect(p);
  }

  // A suspect has what works on it to itself, and is tried only once that is
  // written down; nobody is delayed by a trial who was delayed before.
  void handed_off(process& p, core::ticket who, phase at) {
    const auto id = who.id;
    at_[id] = at;
    if (const auto i = held_.find(id); i != held_.end() && i->second.at == at) {
      suspects_[id] = at;
      held_.erase(i);
    }
    if (const auto i = suspects_.find(id);
        i != suspects_.end() && i->second != at)
      suspects_.erase(i);
    const bool lone = suspects_.count(id) != 0;
    BOOST_REQUIRE_MESSAGE(p.outstanding.empty() || !lone,
                          "a suspect of a death runs with others");
    for (const auto other : p.outstanding)
      BOOST_REQUIRE_MESSAGE(suspects_.count(other.id) == 0
                              || rig_->answered(other.id),
                            "others join a suspect of a death");
    if (!lone)
      return;
    ++trials_;
    if (keeps_.count(id) != 0)
      BOOST_REQUIRE_MESSAGE(written_.erase(id) == 1,
                            "a trial that is not written down");
    if (!roomy_ || (p.device && processes_.size() > 2))
      return;
    for (const auto other : delayed_)
      if (!is_suspect(other) && waits(other)) {
        const auto there = at_.at(other);
        const bool same = there == at;
        const bool encodes =
          at == phase::preparing && there == phase::finishing;
        BOOST_REQUIRE_MESSAGE(!same && !encodes, "request "
                                                   << other.value
                                                   << " may be delayed again");
      }
  }

  // Now, or from the begin of its phase on for what a server before held
  // against it.
  bool is_suspect(core::request_id id) const {
    const auto now = suspects_.find(id);
    const auto held = held_.find(id);
    return (now != suspects_.end() && now->second == at_.at(id))
        || (held != held_.end() && held->second.at == at_.at(id));
  }

  bool waits(core::request_id id) const {
    return !rig_->answered(id)
        && std::none_of(
          processes_.begin(), processes_.end(), [&](const auto& p) {
            return std::any_of(p.outstanding.begin(), p.outstanding.end(),
                               [&](auto who) { return who.id == id; });
          });
  }

  void report(process& p, const actors::report& x) {
    if (const auto* s = std::get_if<actors::stepping>(&x))
      p.heard = s->rows;
    if (const auto* w = std::get_if<actors::worker_ready>(&x);
        w != nullptr && !p.suspected && !p.lost)
      p.there.insert(w->who.what);
    if (const auto who = ticket_of(x); p.outstanding.erase(who) != 0) {
      for (auto& [what, orders] : p.orders)
        std::erase(orders, who);
      if (auto& at = at_[who.id]; succeeded(x) && at != phase::finishing)
        at = static_cast<phase>(static_cast<int>(at) + 1);
    }
    event([&](auto& h) {
      std::visit([&](const auto& y) { h.on(y, rig_->now); }, x);
    });
  }

  void deliver_report(process& p) {
    if (p.outbox.empty())
      return;
    const auto x = std::move(p.outbox.front());
    p.outbox.pop_front();
    if (chance(5))
      late_.emplace_back(p.index, x);
    report(p, x);
  }

  // -- processes --------------------------------------------------------------

  void start(process& p) {
    ++p.life;
    p.alive = true;
    p.hung = p.suspected = p.lost = false;
    p.silent.clear();
    p.orders.clear();
    p.there.clear();
    p.inbox.clear();
    p.outbox.clear();
    p.rows.clear();
    p.told.clear();
    p.heard.clear();
    p.outstanding.clear();
    actors::worker_ready ready;
    ready.seats = 1 + pick(4);
    if (p.device) {
      ready.who = test::hub_rig::device_at(p.who());
      ready.seats = std::max(ready.seats, p.max_batch);
      ready.max_batch = p.max_batch;
      ready.variants = {"card@4", "card@2"};
      p.outbox.emplace_back(ready);
    } else {
      ready.who = test::hub_rig::preprocess_at(p.who());
      p.outbox.emplace_back(ready);
      ready.who = test::hub_rig::postprocess_at(p.who());
      p.outbox.emplace_back(ready);
    }
  }

  // The process ends; what it wrote into its ring stays.
  void die(process& p, death cause) {
    if (p.alive)
      p.cause = cause;
    p.alive = false;
    p.inbox.clear();
    p.rows.clear();
  }

  void suspect(process& p) {
    if (p.suspected || p.lost)
      return;
    p.suspected = true;
    event([&](auto& h) { h.suspected(p.who(), rig_->now); });
  }

  void lose(process& p, bool confirmed) {
    const auto cause = p.suspected ? death::watchdog : p.cause;
    if (!p.lost && cause != death::outside)
      blame(p, cause);
    p.lost = true;
    p.outstanding.clear();
    p.orders.clear();
    if (confirmed)
      slots_.gone(p.who());
    event([&](auto& h) { h.lost(p.who(), confirmed, cause, rig_->now); });
  }

  // What it worked on is suspected; all others there were delayed.
  void blame(const process& p, death cause) {
    std::set<core::ticket> worked_on;
    for (const auto who : p.heard)
      if (p.outstanding.count(who) != 0)
        worked_on.insert(who);
    const bool named = cause == death::watchdog && !p.silent.empty();
    for (const auto& [what, orders] : p.orders)
      if (!orders.empty() && (!named || p.silent.count(what) != 0))
        worked_on.insert(orders.front());
    if (worked_on.empty())
      return;
    for (const auto& what : requests_) {
      constexpr actors::role roles[] = {actors::role::preprocess,
                                        actors::role::denoise_step,
                                        actors::role::postprocess};
      const auto wants = roles[static_cast<size_t>(at_[what->id])];
      // With several devices another one serves them.
      const bool elsewhere = p.device && processes_.size() > 2;
      if (!elsewhere && !is_suspect(what->id) && p.there.count(wants) != 0
          && waits(what->id))
        delayed_.insert(what->id);
    }
    for (const auto who : p.outstanding)
      if (worked_on.count(who) == 0)
        delayed_.insert(who.id);
    for (const auto who : worked_on)
      if (!rig_->answered(who.id)
          && !suspects_.emplace(who.id, at_.at(who.id)).second)
        ++deaths_alone_[who.id];
  }

  // Its end is certain: the ring is read to the end first.
  void bury(process& p) {
    die(p, chance(50) ? death::crash : death::outside);
    while (!p.outbox.empty())
      deliver_report(p);
    lose(p, true);
    start(p);
  }

  void send(process& p, actors::report x) {
    // From here on it touches nothing of that ticket.
    if (const auto who = ticket_of(x); who.id.value != 0)
      slots_.replied(who);
    p.outbox.push_back(std::move(x));
  }

  void work(process& p) {
    if (!p.alive || p.hung || p.inbox.empty())
      return;
    const auto x = std::move(p.inbox.front().second);
    p.inbox.pop_front();
    auto& store = *rig_->store;
    if (!std::holds_alternative<actors::cancel_work>(x)
        && dies_at(test::ticket_of(x).id, test::phase_of(x)) && !p.device)
      return die(p, death::crash);
    if (const auto a = test::read_as<test::prepare>(x)) {
      test::prepared r;
      r.who = a->who;
      r.failure = failure();
      if (a->source && !p.lost)
        BOOST_REQUIRE_MESSAGE(store.view(a->drawn ? a->drawn : a->files),
                              "nothing to make a source of");
      if (r.failure.code == ec::none) {
        written(p, store.publish(a->state, 1, 0));
        if (a->source)
          written(p, store.publish(a->source, 1, 0));
      }
      send(p, r.reply());
    } else if (const auto f = test::read_as<test::finish>(x)) {
      test::finished r;
      r.who = f->who;
      r.failure = failure();
      if (!p.lost)
        BOOST_REQUIRE(store.view(f->pixels));
      if (r.failure.code == ec::none)
        written(p, store.publish(f->encoded, 1, 0));
      send(p, r.reply());
    } else if (const auto* d = std::get_if<actors::denoise>(&x)) {
      device_row row{*d};
      source_is_there(p, row);
      const auto seq = store.published(d->from);
      if (!p.lost)
        BOOST_REQUIRE_MESSAGE(seq && *seq > 0, "nothing to go on from");
      if (seq && *seq > 0)
        row.steps_done = static_cast<uint32_t>(*seq - 1);
      BOOST_REQUIRE(p.lost || row.steps_done >= d->steps_done);
      p.rows.emplace(d->who, row);
    } else if (const auto* c = std::get_if<actors::cancel_work>(&x)) {
      if (const auto i = p.rows.find(c->who); i != p.rows.end())
        i->second.cancelled = true;
    }
  }

  void source_is_there(const process& p, const device_row& row) {
    BOOST_REQUIRE(row.what.how.from_image == bool{row.what.source});
    if (row.what.source && !p.lost)
      BOOST_REQUIRE_MESSAGE(rig_->store->view(row.what.source),
                            "a source is gone while its row runs");
  }

  void written(const process& p, const core::result<void>& done) {
    // Slots of a row that ended may be another's once its process is lost.
    BOOST_REQUIRE(done || p.lost);
  }

  core::error failure() {
    if (!faults_ || !chance(3))
      return {};
    constexpr ec codes[] = {ec::out_of_resources, ec::io_failed, ec::internal};
    return core::fail(codes[pick(3)], "scripted");
  }

  // A few rows of a device run a step; rows with all their steps end.
  void step(process& p) {
    if (!p.device || !p.alive || p.hung || p.rows.empty())
      return;
    std::vector<core::ticket> rows;
    for (const auto& [who, row] : p.rows)
      if (rows.size() < p.max_batch && chance(70))
        rows.push_back(who);
    if (rows.empty())
      return;
    if (rows != p.told)
      send(p, actors::stepping{test::hub_rig::device_at(p.who()), rows});
    p.told = rows;
    for (const auto who : rows)
      if (dies_at(who.id, phase::denoising) && p.rows.at(who).steps_done >= 1)
        return die(p, death::memory);
    actors::stepped sign;
    sign.who = test::hub_rig::device_at(p.who());
    for (const auto who : rows) {
      auto& row = p.rows.at(who);
      source_is_there(p, row);
      const auto steps = core::steps_to_run(row.what.how);
      if (!row.cancelled && row.steps_done < steps) {
        ++row.steps_done;
        if (row.steps_done % p.publish_every == 0 || row.steps_done == steps) {
          const auto done = rig_->store->publish(
            row.what.state, uint64_t{row.steps_done} + 1, 0);
          written(p, done);
          if (done) {
            row.published = true;
            slots_.published(who);
          }
        }
      }
      if (row.published || row.what.wants_progress)
        sign.rows.push_back({who, row.steps_done, row.published});
    }
    send(p, sign);
    if (faults_ && chance(2))
      return die(p, chance(50) ? death::crash : death::outside);
    for (const auto who : rows)
      if (const auto& row = p.rows.at(who);
          row.cancelled || row.steps_done == core::steps_to_run(row.what.how)
          || chance(1))
        end(p, who);
  }

  void end(process& p, core::ticket who) {
    const auto row = p.rows.at(who);
    source_is_there(p, row);
    actors::denoised r;
    r.who = who;
    r.steps_done = row.steps_done;
    if (row.cancelled)
      r.failure = core::fail(ec::cancelled, "cancelled");
    else if (row.steps_done < core::steps_to_run(row.what.how))
      r.failure = core::fail(ec::out_of_resources, "scripted");
    else
      r.failure = failure();
    if (r.failure.code == ec::none)
      written(p, rig_->store->publish(row.what.image, 1, 0));
    p.rows.erase(who);
    send(p, r);
  }

  bool dies_at(core::request_id id, phase at) const {
    const auto i = poison_.find(id);
    return i != poison_.end() && i->second == at;
  }

  // -- the schedule -----------------------------------------------------------

  void act() {
    const auto what = pick(100);
    if (what < 12)
      submit();
    else if (what < 14)
      cancel();
    else if (what < 16)
      tell_what_is_near();
    else if (what < 18)
      write_down();
    else if (what < 38)
      work(any_process());
    else if (what < 62)
      step(any_process());
    else if (what < 86)
      deliver_report(any_process());
    else if (what < 90)
      take();
    else if (what < 93)
      pass(10ms + core::timespan{pick(1'500'000'000)});
    else if (what < 94)
      replan();
    else if (what < 95)
      repeat();
    else if (faults_)
      fault(any_process());
  }

  void submit() {
    if (requests_.size() >= most_requests_)
      return;
    const auto id = core::request_id{++rig_->last_id};
    auto what = std::make_shared<core::request>();
    what->id = id;
    what->arrived = rig_->now;
    what->prio = static_cast<core::priority>(pick(3));
    what->fixed.variant = chance(50) ? "card@4" : "card@2";
    if (chance(30))
      what->fixed.steps = 1 + pick(8);
    if (chance(sources_))
      what->source = draw_source(*what);
    what->wants_progress = chance(30);
    if (chance(20))
      what->deadline = rig_->now + core::timespan{pick(8'000'000'000)};
    if (faults_ && chance(6))
      poison_.emplace(id, static_cast<phase>(pick(3)));
    core::suspicion held;
    if (chance(5)) {
      held = {static_cast<phase>(pick(3)), 0, pick(3), 1 + pick(2)};
      held_.emplace(id, held);
      deaths_alone_[id] = held.trials;
      ++held_before_;
    }
    const bool keeps = chance(40);
    if (keeps)
      keeps_.insert(id);
    requests_.push_back(what);
    at_[id] = phase::preparing;
    event([&](auto& h) { h.submit(what, rig_->now, held, keeps); });
  }

  void write_down() {
    if (unwritten_.empty())
      return;
    const auto id = unwritten_.front();
    unwritten_.pop_front();
    written_.insert(id);
    event([&](auto& h) { h.trial_noted(id, rig_->now); });
  }

  std::shared_ptr<const core::source_images> draw_source(core::request& of) {
    auto x = std::make_shared<core::source_images>();
    x->image.resize(1 + pick(15));
    x->mask.resize(pick(2) * (1 + pick(5)));
    x->image_px = {8, 8};
    of.px = {32, 32};
    if (!x->mask.empty())
      of.kind = core::request_kind::edit;
    if (chance(70))
      of.fixed.strength = static_cast<float>(1 + pick(10)) / 10;
    return x;
  }

  void tell_what_is_near() {
    if (!questions_ || questions_->asked.empty())
      return;
    actors::facts_found told;
    std::tie(told.id, told.question) = questions_->asked.front();
    questions_->asked.pop_front();
    told.what.near.emplace(pick(3));
    event([&](auto& h) { h.on(told, rig_->now); });
  }

  void cancel() {
    const core::request_id id{1 + pick(rig_->last_id + 1)};
    cancelled_.insert(id);
    event([&](auto& h) { h.cancel(id, rig_->now); });
  }

  void take() {
    if (untaken_.empty())
      return;
    const auto id = untaken_.front();
    untaken_.erase(untaken_.begin());
    BOOST_REQUIRE(rig_->store->view(rig_->answers.at(id).image));
    event([&](auto& h) { h.taken(id, rig_->now); });
  }

  void pass(core::timespan later) {
    rig_->now += later;
    event([&](auto& h) { h.tick(rig_->now); });
  }

  void replan() {
    auto plan = std::make_shared<planning::plan>(
      rig_->policy->replan({}, *rig_->profile, rig_->sut->cluster(), {}));
    plan->version = pick(50);
    event([&](auto& h) { h.publish(plan, rig_->now); });
  }

  // A report comes once more, as late as it likes.
  void repeat() {
    if (late_.empty())
      return;
    const auto& late = late_[pick(late_.size())];
    const auto index = late.first;
    const auto x = late.second;
    if (const auto* s = std::get_if<actors::stepping>(&x);
        s != nullptr && processes_.at(index - 1).who() == s->who.where)
      processes_.at(index - 1).heard = s->rows;
    event([&](auto& h) {
      std::visit([&](const auto& y) { h.on(y, rig_->now); }, x);
    });
  }

  void fault(process& p) {
    switch (pick(6)) {
      case 0:
        return die(p, chance(50) ? death::crash : death::outside);
      case 1:
        p.hung = true;
        return;
      case 2:
        p.hung = false;
        return;
      case 3:
        return suspect(p);
      case 4:
        // Unconfirmed: it may still write.
        if (p.suspected)
          lose(p, false);
        return;
      default:
        if (!p.alive || p.suspected)
          bury(p);
    }
  }

  // No more faults: everything comes to its end.
  void calm() {
    faults_ = false;
    for (auto& p : processes_)
      if (!p.alive || p.hung || p.suspected || p.lost)
        bury(p);
    for (int round = 0; round < 5'000; ++round) {
      for (auto& p : processes_) {
        work(p);
        step(p);
        deliver_report(p);
        if (!p.alive)
          bury(p);
      }
      take();
      tell_what_is_near();
      write_down();
      if (rig_->sut->rows() == 0 && idle())
        break;
    }
    judge();
  }

  bool idle() const {
    return std::all_of(processes_.begin(), processes_.end(), [](const auto& p) {
      return p.inbox.empty() && p.outbox.empty() && p.rows.empty();
    });
  }

  void judge() {
    BOOST_REQUIRE_EQUAL(rig_->sut->rows(), 0u);
    BOOST_REQUIRE(rig_->quiet());
    BOOST_REQUIRE_EQUAL(rig_->answers.size(), requests_.size());
    for (const auto& what : requests_) {
      const auto code = rig_->failure_of(what->id);
      const auto known =
        code == ec::none || code == ec::overloaded || code == ec::unavailable
        || code == ec::out_of_resources || code == ec::io_failed
        || code == ec::internal
        || (code == ec::invalid_argument && what->source && image_slots_ < 3)
        || (code == ec::cancelled && cancelled_.count(what->id) != 0)
        || (code == ec::deadline_missed && what->deadline != core::never)
        || (code == ec::poison && deaths_alone_[what->id] >= 2);
      BOOST_REQUIRE_MESSAGE(known, "request " << what->id.value << ": "
                                              << to_string(code));
      const bool found =
        code == ec::none && rig_->answers.at(what->id).route == "picture";
      found_ += found ? 1u : 0u;
      if (const auto i = poison_.find(what->id);
          i != poison_.end() && code == ec::none) {
        if (i->second == phase::denoising)
          BOOST_REQUIRE(
            found || core::steps_to_run(rig_->answers.at(what->id).how) == 1);
        else
          BOOST_REQUIRE(found && i->second == phase::preparing);
      }
      if (code == ec::none && what->source)
        ++with_source_;
    }
    const auto& c = rig_->sut->counts();
    BOOST_REQUIRE_EQUAL(c.arrived, requests_.size());
    BOOST_REQUIRE_EQUAL(c.arrived,
                        c.refused + c.answered + c.failed + c.cancelled);
  }

  core::philox random_;
  std::shared_ptr<finder> questions_;
  std::optional<test::hub_rig> rig_;
  std::vector<process> processes_;
  test::watched_slots slots_;
  std::vector<std::shared_ptr<const core::request>> requests_;
  std::vector<core::request_id> untaken_;
  std::vector<std::pair<uint32_t, actors::report>> late_;
  std::set<core::request_id> cancelled_;
  // With the phase that kills.
  std::map<core::request_id, phase> poison_;
  // What a request does next or is in, and those that must do it alone.
  std::map<core::request_id, phase> at_;
  std::map<core::request_id, phase> suspects_;
  std::map<core::request_id, core::suspicion> held_;
  std::map<core::request_id, uint32_t> deaths_alone_;
  // By a death that another request caused.
  std::set<core::request_id> delayed_;
  std::set<core::request_id> keeps_;
  std::deque<core::request_id> unwritten_;
  std::set<core::request_id> written_;
  size_t trials_ = 0;
  size_t held_before_ = 0;
  // There is a slot for everybody.
  bool roomy_ = false;
  size_t most_requests_ = 0;
  uint32_t image_slots_ = 0;
  /// Of a hundred requests.
  uint32_t sources_ = 0;
  /// Answered with a picture.
  size_t with_source_ = 0;
  /// Answered with a picture that was found.
  size_t found_ = 0;
  bool faults_ = false;
};

} // namespace

BOOST_AUTO_TEST_SUITE(random_hub_test)

BOOST_AUTO_TEST_CASE(every_request_is_answered_once_under_random_schedules) {
  size_t first = 0;
  auto count = test::scaled(100'000);
  if (const char* alone = std::getenv("ATELIER_TEST_SCHEDULE")) {
    first = std::strtoull(alone, nullptr, 10);
    count = 1;
  }
  actors::counters sum;
  std::array<size_t, 3> poisoned{};
  size_t with_source = 0;
  size_t found = 0;
  size_t trials = 0;
  size_t held_before = 0;
  for (auto i = first; i < first + count; ++i)
    BOOST_TEST_CONTEXT("ATELIER_TEST_SEED=" << test::seed()
                                            << " ATELIER_TEST_SCHEDULE=" << i) {
      schedule one{i};
      one.run();
      const auto& c = one.counts();
      sum.answered += c.answered;
      sum.late += c.late;
      sum.stale_replies += c.stale_replies;
      sum.resumed += c.resumed;
      sum.slot_waits += c.slot_waits;
      for (size_t at = 0; at < poisoned.size(); ++at)
        poisoned[at] += one.met_poison(static_cast<phase>(at)) ? 1u : 0u;
      trials += one.trials();
      held_before += one.held_before();
      with_source += one.with_source();
      found += one.found();
    }
  BOOST_TEST_MESSAGE(
    count << " schedules: " << sum.answered << " answered, " << with_source
          << " with a source, " << found << " with what was found, " << sum.late
          << " late, " << sum.resumed << " resumed, " << sum.stale_replies
          << " stale replies, " << sum.slot_waits << " waits for slots, "
          << trials << " trials alone, " << held_before
          << " suspects of a server before; with poison in preparing "
          << poisoned[0] << ", in denoising " << poisoned[1]
          << ", in finishing " << poisoned[2]);
  // They meet what they are there for.
  if (count >= 1'000)
    for (const auto met :
         {sum.answered, with_source, found, sum.late, sum.resumed,
          sum.stale_replies, sum.slot_waits, trials, held_before,
          uint64_t{poisoned[0]}, uint64_t{poisoned[1]}, uint64_t{poisoned[2]}})
      BOOST_TEST(met > 0u);
  BOOST_TEST(count > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
