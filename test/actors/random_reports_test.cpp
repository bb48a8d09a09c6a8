// SPDX-License-Identifier: Apache-2.0

// Random schedules in which reports are lost, doubled, late or nonsense, states
// are damaged, and the scheduler does not run for a while: every request ends,
// and every invariant holds. To run one schedule: ATELIER_TEST_SEED=<seed>
// ATELIER_TEST_SCHEDULE=<number>.

#include "actors/random_scheduler_world.hpp"
#include "support/scale.hpp"

#include <cstdlib>
#include <map>
#include <string>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using test::random_process;

class schedule : public test::random_world {
public:
  explicit schedule(uint64_t number) : random_world(number) {
    test::scheduler_rig::options o;
    o.slots = {2 + pick(4), 3 + pick(4), 0};
    const bool roomy = chance(40);
    if (roomy)
      o.slots = {128, 128, 0};
    o.limits.requests = 4 + pick(16);
    const bool finds = chance(30);
    test::random_stage_options drawn;
    drawn.finds = finds;
    drawn.strays = chance(40);
    drawn.slot_bytes = chance(50) ? 4'096 : 0;
    o.slot_bytes = {0, drawn.slot_bytes, 0};
    stages_.emplace(random_, drawn);
    o.stages = stages_->all();
    if (finds)
      o.policy = std::make_shared<test::finding_policy>();
    else if (chance(40))
      o.policy = std::make_shared<test::several_legs>();
    o.profile = test::card_profile();
    if (finds)
      o.profile->reuse.emplace().full = core::variant_id{0};
    if (chance(50))
      o.profile->variants[1].native_px = {16, 20};
    rig_.emplace(o);
    watch(drawn.slot_bytes);
    const auto devices = 1 + pick(2);
    for (uint32_t i = 1; i <= devices + 2; ++i) {
      random_process p;
      p.index = i <= devices + 1 ? i : 0;
      p.device = i > 1 && p.index != 0;
      p.max_batch = 1 + pick(3);
      p.publish_every = 1 + pick(3);
      processes_.push_back(std::move(p));
      start(processes_.back());
    }
    most_requests_ = 1 + pick(12);
    faults_ = true;
  }

  void run() {
    const auto events = 20 + pick(150);
    for (uint32_t i = 0; i < events; ++i)
      act();
    faults_ = false;
    // The rest takes the time of a question for every lost order.
    for (int round = 0; round < 4'000; ++round) {
      for (auto& p : processes_) {
        work(p);
        step(p);
        deliver(p);
        if (chance(10))
          catch_up(p);
        replace(p);
      }
      if (rig_->sut->rows() == 0 && rig_->quiet())
        break;
      pass(chance(5) ? 10s : 250ms);
    }
    BOOST_REQUIRE_MESSAGE(rig_->sut->rows() == 0, "a request never ends");
    BOOST_REQUIRE(rig_->quiet());
    BOOST_REQUIRE_EQUAL(rig_->answers.size(), requests_.size());
    for (const auto& [id, x] : rig_->answers)
      if (x.failure.code == ec::none)
        BOOST_REQUIRE(x.px == pixels_->px_of(id));
    happened["images of another size"] += pixels_->changes();
    const auto& c = counts();
    BOOST_REQUIRE_EQUAL(c.arrived,
                        c.refused + c.answered + c.failed + c.cancelled);
  }

  const actors::counters& counts() const {
    return rig_->sut->counts();
  }

  std::map<std::string, uint64_t> happened;

private:
  random_process& process_of(ipc::process_life who) {
    return who.process.value == 0 ? processes_.back()
                                  : processes_.at(who.process.value - 1);
  }

  random_process& any_process() {
    return processes_[pick(processes_.size())];
  }

  // -- the scheduler's events -------------------------------------------------

  template <class F>
  void event(F f) {
    watched_event(f);
    for (auto& x : std::exchange(rig_->sent, {})) {
      check_order(x);
      auto& p = process_of(x.to.process);
      BOOST_REQUIRE_MESSAGE(x.to.process == p.who() && !p.lost,
                            "work for a life that is over");
      if (p.alive)
        p.inbox.emplace_back(x.to, std::move(x.what));
    }
    for (const auto id : std::exchange(rig_->untaken, {}))
      untaken_.push_back(id);
    for (const auto who : std::exchange(rig_->suspects, {}))
      if (auto& p = process_of(who); p.who() == who && !p.lost)
        suspected_.push_back(who);
  }

  void report(const actors::report& x) {
    pixels_->arrives(x);
    event([&](auto& h) {
      std::visit([&](const auto& y) { h.on(y, rig_->now); }, x);
    });
  }

  // -- the way of a report ----------------------------------------------------

  void deliver(random_process& p) {
    if (p.outbox.empty())
      return;
    auto x = std::move(p.outbox.front());
    p.outbox.pop_front();
    // A worker that cannot announce itself is none.
    if (!faults_ || std::holds_alternative<actors::worker_ready>(x))
      return report(x);
    if (chance(4)) {
      ++happened["lost"];
      return;
    }
    if (chance(4))
      garble(x);
    if (chance(4)) {
      ++happened["doubled"];
      again_.push_back(x);
    }
    report(x);
  }

  // No attempt has so high a number.
  static constexpr uint32_t nobodys = 1'000'000;

  void garble(actors::report& x) {
    ++happened["garbled"];
    if (auto* done = std::get_if<actors::stage_done>(&x)) {
      if (chance(50))
        done->stage = static_cast<uint16_t>(pick(20));
      else
        done->ticket.attempt += nobodys;
    } else if (auto* leg = std::get_if<actors::denoised>(&x)) {
      leg->steps_done = leg->steps_run = pick(UINT32_MAX);
      if (chance(50))
        leg->ticket.attempt += nobodys;
    } else if (auto* sign = std::get_if<actors::stepped>(&x)) {
      if (chance(50))
        sign->worker = test::scheduler_rig::device_at(any_process().who());
      for (auto& row : sign->rows)
        row.steps_done = chance(50) ? pick(UINT32_MAX) : row.steps_done;
    } else if (auto* batch = std::get_if<actors::stepping>(&x)) {
      batch->worker = test::scheduler_rig::device_at(any_process().who());
      batch->rows.push_back({core::request_id{1 + pick(8)}, 1 + pick(4)});
    } else if (auto* has = std::get_if<actors::has_order>(&x)) {
      // It never says "no" of an order that is there.
      has->has = true;
    }
  }

  // -- processes --------------------------------------------------------------

  void end_life(random_process& p, death cause) {
    if (faults_ && p.device && chance(30))
      for (const auto& [who, row] : p.rows)
        if (rig_->store->publish(row.what.state, 1 + pick(UINT32_MAX), 0))
          ++happened["nonsense published"];
    die(p, cause);
    while (!p.outbox.empty())
      deliver(p);
    p.lost = true;
    watched_->gone(p.who());
    pixels_->gone(p.who());
    event([&](auto& h) { h.lost(p.who(), true, cause, rig_->now); });
    start(p);
  }

  // A suspected process is killed; one that ended is replaced.
  void replace(random_process& p) {
    const bool suspect = std::erase(suspected_, p.who()) != 0;
    if (suspect && !p.suspected) {
      ++happened["suspected"];
      p.suspected = true;
      event([&](auto& h) { h.suspected(p.who(), rig_->now); });
    }
    if (!p.control() && (p.suspected || !p.alive))
      end_life(p, p.suspected ? death::watchdog : p.cause);
  }

  // -- the schedule -----------------------------------------------------------

  void act() {
    const auto what = pick(100);
    if (what < 12)
      submit();
    else if (what < 14)
      cancel();
    else if (what < 17)
      catch_up(any_process());
    else if (what < 38)
      work(any_process());
    else if (what < 60)
      step(any_process());
    else if (what < 84)
      deliver(any_process());
    else if (what < 86)
      take();
    else if (what < 94)
      pass(10ms + core::timespan{pick(2'000'000'000)});
    else if (what < 95)
      jump(core::timespan{pick(UINT32_MAX)} * 20);
    else if (what < 97 && !again_.empty())
      report(again_[pick(again_.size())]);
    else if (auto& p = any_process(); what < 98 && !p.control())
      end_life(p, chance(50) ? death::crash : death::outside);
    for (auto& p : processes_)
      if (chance(20))
        replace(p);
  }

  void submit() {
    if (requests_.size() >= most_requests_)
      return;
    auto what = std::make_shared<core::request>();
    what->id = core::request_id{++rig_->last_id};
    what->arrived = rig_->now;
    what->prio = static_cast<core::priority>(pick(3));
    what->fixed.variant = chance(50) ? "card@4" : "card@2";
    what->wants_progress = chance(30);
    if (chance(20)) {
      auto source = std::make_shared<core::source_images>();
      source->image.resize(1 + pick(15));
      source->image_px = {8, 8};
      what->source = source;
      what->px = {32, 32};
    }
    if (chance(10))
      what->deadline = rig_->now + core::timespan{pick(UINT32_MAX)} * 2;
    requests_.push_back(what);
    event([&](auto& h) { h.submit(what, rig_->now); });
  }

  void cancel() {
    const core::request_id id{1 + pick(rig_->last_id + 1)};
    event([&](auto& h) { h.cancel(id, rig_->now); });
  }

  void take() {
    for (const auto id : std::exchange(untaken_, {}))
      event([&](auto& h) { h.taken(id, rig_->now); });
  }

  void pass(core::timespan later) {
    for (; later > test::scheduler_rig::between_ticks;
         later -= test::scheduler_rig::between_ticks)
      jump(test::scheduler_rig::between_ticks);
    jump(later);
    take();
  }

  void jump(core::timespan later) {
    rig_->now += later;
    event([&](auto& h) { h.tick(rig_->now); });
  }

  std::vector<core::request_id> untaken_;
  std::vector<ipc::process_life> suspected_;
  std::vector<actors::report> again_;
  size_t most_requests_ = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(random_reports_test)

BOOST_AUTO_TEST_CASE(every_request_ends_whatever_becomes_of_reports) {
  size_t first = 0;
  auto count = test::scaled(200'000);
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
      sum["failed"] += c.failed;
      sum["stale replies"] += c.stale_replies;
      sum["orders lost"] += c.orders_lost;
      sum["legs restarted"] += c.legs_restarted;
      sum["resumed"] += c.resumed;
      for (const auto& [what, times] : one.happened)
        sum[what] += times;
    }
  for (const auto& [what, times] : sum)
    BOOST_TEST_MESSAGE(what << ": " << times);
  // The schedules contain all the situations that they test.
  if (count >= 1'000)
    for (const auto* what :
         {"answered", "stale replies", "orders lost", "legs restarted",
          "resumed", "lost", "doubled", "garbled", "nonsense published",
          "suspected", "images of another size"})
      BOOST_TEST(sum[what] > 0u, what);
  BOOST_TEST(count > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
