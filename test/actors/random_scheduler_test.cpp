// SPDX-License-Identifier: Apache-2.0

// Random schedules of only the scheduler's tables. Processes are a few lines
// each, so that very many schedules run. random_system_test runs the real
// actors. To run one schedule: ATELIER_TEST_SEED=<seed>
// ATELIER_TEST_SCHEDULE=<number>.

#include "actors/random_scheduler_laws.hpp"
#include "support/scale.hpp"

#include <cstdlib>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using test::random_process;

class schedule : public test::random_laws {
public:
  explicit schedule(uint64_t number) : random_laws(number) {
    test::scheduler_rig::options o;
    roomy_ = chance(40);
    const auto most = chance(50) ? 4u : 13u;
    o.slots = {2 + pick(most), 2 + pick(most), 0};
    if (roomy_)
      o.slots = {256, 256, 0};
    o.pace.attempts = pick(4) == 0 ? 3 : 20;
    o.limits.requests = 4 + pick(16);
    o.limits.sources_bytes = 10 + pick(60);
    image_slots_ = o.slots[1];
    sources_ = pick(3) * 40;
    tenants_ = pick(2) * (1 + pick(6));
    const bool finds = chance(40);
    test::random_stage_options drawn;
    drawn.finds = finds;
    drawn.strays = chance(60);
    drawn.slot_bytes = chance(50) ? 4'096 : 0;
    o.slot_bytes = {0, drawn.slot_bytes, 0};
    stages_.emplace(random_, drawn);
    o.stages = stages_->all();
    if (finds)
      o.policy = std::make_shared<test::finding_policy>();
    several_ = !finds && chance(50);
    if (several_)
      o.policy = std::make_shared<test::several_legs>();
    o.profile = test::card_profile();
    if (finds)
      o.profile->reuse.emplace().full = core::variant_id{0};
    // Some images have the size of their leg's variant.
    if (chance(50))
      o.profile->variants[1].native_px = {16, 20};
    rig_.emplace(o);
    watch(drawn.slot_bytes);
    const auto devices = 1 + pick(3);
    for (uint32_t i = 1; i <= devices + 2; ++i) {
      random_process p;
      p.index = i <= devices + 1 ? i : 0;
      p.device = i > 1 && p.index != 0;
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

  const std::map<test::conduct, size_t>& conducts() const {
    return conducts_;
  }

  size_t answered_with(bool source) const {
    size_t n = 0;
    for (const auto& [id, x] : rig_->answers)
      if (x.failure.code == ec::none)
        n += source ? bool{x.request->source} : x.route == "picture";
    return n;
  }

  size_t answered_after_legs() const {
    return static_cast<size_t>(std::count_if(
      rig_->answers.begin(), rig_->answers.end(), [](const auto& x) {
        return x.second.failure.code == ec::none
            && x.second.route.ends_with(" legs");
      }));
  }

  size_t resized() const {
    return pixels_->changes();
  }

  // Returns the requests that an impossible size failed.
  size_t refused_sizes() const {
    return static_cast<size_t>(std::count_if(
      rig_->answers.begin(), rig_->answers.end(), [](const auto& x) {
        return x.second.failure.text.find(" makes an image of ")
            != std::string::npos;
      }));
  }

  size_t with_tenant() const {
    return with_tenant_;
  }

  size_t held_before() const {
    return held_before_;
  }

  // Returns whether a request was poison in that phase.
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
  random_process& any_process() {
    return processes_[pick(processes_.size())];
  }

  random_process& process_of(ipc::process_life who) {
    return who.process.value == 0 ? processes_.back()
                                  : processes_.at(who.process.value - 1);
  }

  // -- the scheduler's events -------------------------------------------------

  template <class F>
  void event(F f) {
    ++events_;
    watched_event(f);
    collect();
  }

  // Passes the scheduler's orders to the processes, and checks its answers.
  void collect() {
    for (auto& x : std::exchange(rig_->sent, {})) {
      check_order(x);
      auto& p = process_of(x.to.process);
      BOOST_REQUIRE_MESSAGE(x.to.process == p.who() && !p.lost,
                            "work for a life that is over");
      if (!std::holds_alternative<actors::cancel_work>(x.what)
          && !std::holds_alternative<actors::ask_order>(x.what))
        order(p, x);
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
      if (auto& p = process_of(suspects[i]); p.who() == suspects[i] && !p.lost)
        for (const auto what : p.there)
          if (reasons[i].starts_with(actors::to_string(what)))
            p.silent.insert(what);
    for (const auto who : suspects)
      if (auto& p = process_of(who); p.who() == who && !p.suspected)
        suspect(p);
  }

  void order(random_process& p, const test::sent_work& x) {
    const auto who = test::ticket_of(x.what);
    BOOST_REQUIRE(!p.suspected);
    const auto* run = std::get_if<actors::run_stage>(&x.what);
    if (run != nullptr && stages_->is_side(run->stage))
      side_order(p, *run);
    else
      main_order(p, who,
                 run != nullptr ? run->stage : stages_->all()->denoise());
    p.outstanding.insert(who);
    if (!p.device)
      p.orders[x.to.role].push_back(who);
  }

  void report(random_process& p, const actors::report& x) {
    if (const auto* s = std::get_if<actors::stepping>(&x))
      p.heard[s->worker.role] = s->rows;
    if (const auto* w = std::get_if<actors::worker_ready>(&x);
        w != nullptr && !p.suspected && !p.lost)
      p.there.insert(w->worker.role);
    if (const auto who = test::ticket_of(x); p.outstanding.erase(who) != 0) {
      for (auto& [what, orders] : p.orders)
        std::erase(orders, who);
      replied(who, x);
    }
    pixels_->arrives(x);
    event([&](auto& h) {
      std::visit([&](const auto& y) { h.on(y, rig_->now); }, x);
    });
  }

  void deliver_report(random_process& p) {
    if (p.outbox.empty())
      return;
    const auto x = std::move(p.outbox.front());
    p.outbox.pop_front();
    if (chance(5))
      late_.emplace_back(p.index, x);
    report(p, x);
  }

  // -- processes --------------------------------------------------------------

  void suspect(random_process& p) {
    if (p.suspected || p.lost || p.control())
      return;
    p.suspected = true;
    event([&](auto& h) { h.suspected(p.who(), rig_->now); });
  }

  void lose(random_process& p, bool confirmed) {
    const auto cause = p.suspected ? death::watchdog : p.cause;
    if (!p.lost && cause != death::outside)
      blame(p, cause);
    p.lost = true;
    gone(p);
    p.outstanding.clear();
    p.orders.clear();
    pixels_->gone(p.who());
    if (confirmed)
      watched_->gone(p.who());
    event([&](auto& h) { h.lost(p.who(), confirmed, cause, rig_->now); });
  }

  // The process's end is confirmed, so its ring is read to the end first.
  void bury(random_process& p) {
    die(p, chance(50) ? death::crash : death::outside);
    while (!p.outbox.empty())
      deliver_report(p);
    lose(p, true);
    start(p);
  }

  // -- the schedule -----------------------------------------------------------

  void act() {
    const auto what = pick(100);
    if (what < 12)
      submit();
    else if (what < 14)
      cancel();
    else if (what < 16)
      catch_up(any_process());
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
    else if (what < 92)
      pass(10ms + core::timespan{pick(1'500'000'000)});
    else if (what < 93)
      jump(core::timespan{pick(60'000'000'000)});
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
    draw_tenant(*what);
    if (chance(20))
      what->deadline = rig_->now + core::timespan{pick(8'000'000'000)};
    if (faults_ && chance(6))
      poison_.emplace(id, static_cast<phase>(pick(3)));
    core::suspicion held;
    // A suspicion names a leg, and the route is not chosen yet.
    if (!several_ && chance(5)) {
      held = {static_cast<phase>(pick(3)), 0, pick(3), 1 + pick(2)};
      held_.emplace(id, held);
      deaths_alone_[id] = held.trials;
      ++held_before_;
    }
    const bool keeps = chance(40);
    if (keeps)
      keeps_.insert(id);
    requests_.push_back(what);
    at_[id] = stages_->all()->find("prepare").value();
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

  // A tenant's requests all have its share; the unnamed tenant has 1.
  void draw_tenant(core::request& of) {
    constexpr uint32_t shares[] = {1, 1, 1, 5, 5, 100, 1'000};
    const auto which = pick(tenants_ + 1);
    of.tenant = core::tenant_id{which};
    of.share = shares[which];
    with_tenant_ += which != 0 ? 1u : 0u;
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
    for (; later > test::scheduler_rig::between_ticks;
         later -= test::scheduler_rig::between_ticks)
      jump(test::scheduler_rig::between_ticks);
    jump(later);
  }

  // Time passes while the scheduler does not run.
  void jump(core::timespan later) {
    rig_->now += later;
    time_passed();
    event([&](auto& h) { h.tick(rig_->now); });
    // A question without any time is over as soon as it is asked.
    time_passed();
  }

  void replan() {
    auto plan = std::make_shared<planning::plan>(
      rig_->policy->replan({}, *rig_->profile, rig_->sut->cluster(), {}));
    plan->version = pick(50);
    event([&](auto& h) { h.publish(plan, rig_->now); });
  }

  // A report arrives a second time, at any later moment.
  void repeat() {
    if (late_.empty())
      return;
    const auto& late = late_[pick(late_.size())];
    const auto x = late.second;
    if (const auto* s = std::get_if<actors::stepping>(&x);
        s != nullptr
        && process_of(s->worker.process).who() == s->worker.process)
      process_of(s->worker.process).heard[s->worker.role] = s->rows;
    event([&](auto& h) {
      std::visit([&](const auto& y) { h.on(y, rig_->now); }, x);
    });
  }

  void fault(random_process& p) {
    if (p.control())
      return;
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
        // The death is unconfirmed, so the process may still write.
        if (p.suspected)
          lose(p, false);
        return;
      default:
        if (!p.alive || p.suspected)
          bury(p);
    }
  }

  // No more faults happen, and everything ends.
  void calm() {
    faults_ = false;
    for (auto& p : processes_) {
      while (!p.control() && p.alive && late_at(p))
        catch_up(p);
      if (!p.alive || p.hung || p.suspected || p.lost || !p.stopped.empty())
        p.control() ? catch_up(p) : bury(p);
    }
    for (int round = 0; round < 5'000; ++round) {
      for (auto& p : processes_) {
        work(p);
        step(p);
        deliver_report(p);
        if (!p.alive)
          bury(p);
      }
      take();
      write_down();
      if (rig_->sut->rows() == 0 && idle())
        break;
    }
    judge();
  }

  static bool late_at(const random_process& p) {
    return std::any_of(p.stopped.begin(), p.stopped.end(),
                       [](const auto& x) { return x.second.has_value(); });
  }

  bool idle() const {
    return std::all_of(processes_.begin(), processes_.end(), [](const auto& p) {
      return p.inbox.empty() && p.outbox.empty() && p.rows.empty();
    });
  }

  std::vector<core::request_id> untaken_;
  std::vector<std::pair<uint32_t, actors::report>> late_;
  std::deque<core::request_id> unwritten_;
  /// Requests draw several images.
  bool several_ = false;
  size_t held_before_ = 0;
  size_t with_tenant_ = 0;
  size_t most_requests_ = 0;
  /// Percentage of requests.
  uint32_t sources_ = 0;
  /// Named ones.
  uint32_t tenants_ = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(random_scheduler_test)

BOOST_AUTO_TEST_CASE(every_request_is_answered_once_under_random_schedules) {
  size_t first = 0;
  auto count = test::scaled(100'000);
  if (const char* alone = std::getenv("ATELIER_TEST_SCHEDULE")) {
    first = std::strtoull(alone, nullptr, 10);
    count = 1;
  }
  std::map<std::string, uint64_t> sum;
  for (auto i = first; i < first + count; ++i)
    BOOST_TEST_CONTEXT("ATELIER_TEST_SEED=" << test::seed()
                                            << " ATELIER_TEST_SCHEDULE=" << i) {
      schedule one{i};
      one.run();
      const auto& c = one.counts();
      sum["answered"] += c.answered;
      sum["answered with a source"] += one.answered_with(true);
      sum["answered with what was found"] += one.answered_with(false);
      sum["answered after several legs"] += one.answered_after_legs();
      sum["images of another size"] += one.resized();
      sum["impossible sizes"] += one.refused_sizes();
      sum["requests of a tenant"] += one.with_tenant();
      sum["late"] += c.late;
      sum["stale replies"] += c.stale_replies;
      sum["resumed"] += c.resumed;
      sum["waits for slots"] += c.slot_waits;
      sum["questions given up"] += c.facts_late;
      sum["facts that came late"] += one.late_facts();
      for (const auto n : c.stages_left_out)
        sum["stages left out"] += n;
      sum["trials alone"] += one.trials();
      sum["suspects of a server before"] += one.held_before();
      for (size_t at = 0; at < 3; ++at)
        sum[fmt::format("poison in phase {}", at)] +=
          one.met_poison(static_cast<core::phase>(at)) ? 1u : 0u;
      for (size_t how = 0; how <= size_t{9}; ++how)
        sum[fmt::format("conduct {}", how)] += 0;
      for (const auto& [how, times] : one.conducts())
        sum[fmt::format("conduct {}", static_cast<int>(how))] += times;
    }
  for (const auto& [what, times] : sum)
    BOOST_TEST_MESSAGE(what << ": " << times);
  // The schedules contain all the situations that they test.
  if (count >= 1'000)
    for (const auto& [what, times] : sum)
      BOOST_TEST(times > 0u, what);
  BOOST_TEST(count > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
