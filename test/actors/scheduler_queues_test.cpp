// SPDX-License-Identifier: Apache-2.0
#include "actors/scheduler_rig.hpp"

#include <set>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using core::ec;
using test::finish;
using test::prepare;
using test::scheduler_rig;

constexpr auto device = scheduler_rig::life(2);

// Chooses queues as vanilla does, but refuses, or makes invalid choices.
struct stubborn : planning::policy {
  explicit stubborn(planning::choice c) : says(std::move(c)) {}

  std::string_view name() const override {
    return "stubborn";
  }

  planning::plan replan(const planning::demand& a, const planning::profile& b,
                        const planning::cluster_view& c,
                        const planning::plan& d) const override {
    return (*planning::make_policy("vanilla"))->replan(a, b, c, d);
  }

  planning::choice choose(const planning::decision_context&) const override {
    return says;
  }

  core::queue_id place(const planning::leg&,
                       const planning::decision_context&) const override {
    return core::queue_id{0};
  }

  planning::taken take(const planning::worker_view&,
                       std::span<const planning::waiting>,
                       const planning::plan&, core::time_point) const override {
    return {};
  }

  planning::choice says;
};

// A device of sixteen seats and batches of eight, and slots for all.
struct crowded : scheduler_rig {
  crowded() : scheduler_rig(roomy()) {
    add_cpu(life(1), 64);
    add_device(device, 16, 8);
  }

  static options roomy() {
    options o;
    o.slots = {256, 256, 0};
    return o;
  }

  // Prepares the request, too.
  core::request_id submit_for(uint32_t tenant, uint32_t share = 1) {
    const auto id = submit([&](core::request& x) {
      x.tenant = core::tenant_id{tenant};
      x.share = share;
    });
    while (auto p = next<prepare>())
      done(p->second);
    return id;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_queues_test)

// -- refusals -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(one_request_more_than_the_limit_is_refused) {
  scheduler_rig::options o;
  o.limits.requests = 2;
  scheduler_rig rig{o};
  const auto first = rig.submit();
  rig.submit();
  const auto refused = rig.submit();
  BOOST_TEST((rig.failure_of(refused) == ec::overloaded));
  BOOST_TEST((rig.answer_to(refused).retry_after >= 1s));
  BOOST_TEST(rig.answer_to(refused).failure.text.find("limits.requests")
             != std::string::npos);
  rig.cancel(first);
  BOOST_TEST(!rig.answered(rig.submit()));
  BOOST_TEST(rig.sut->counts().refused == 1u);
}

BOOST_AUTO_TEST_CASE(one_byte_of_text_more_than_the_limit_is_refused) {
  scheduler_rig::options o;
  o.limits.request_bytes = 10;
  scheduler_rig rig{o};
  const auto of = [&](size_t bytes) {
    return rig.submit([&](core::request& x) {
      x.text.positive.assign(bytes - 1, 'x');
      x.text.negative = "y";
    });
  };
  const auto first = of(10);
  const auto refused = of(1);
  BOOST_TEST(!rig.answered(first));
  BOOST_TEST((rig.failure_of(refused) == ec::overloaded));
  rig.cancel(first);
  BOOST_TEST(!rig.answered(of(10)));
}

BOOST_AUTO_TEST_CASE(an_unknown_variant_is_refused) {
  scheduler_rig rig;
  const auto id =
    rig.submit([](core::request& x) { x.fixed.variant = "card@9"; });
  BOOST_TEST((rig.failure_of(id) == ec::not_found));
  BOOST_TEST(rig.sut->rows() == 0u);
}

BOOST_AUTO_TEST_CASE(an_id_that_is_known_already_is_refused) {
  scheduler_rig rig;
  const auto id = rig.submit();
  // A client could take the answer to the second request for the first one's.
  rig.submit([&](core::request& x) { x.id = id; });
  BOOST_TEST((rig.failure_of(id) == ec::internal));
  BOOST_TEST(rig.sut->rows() == 1u);
}

BOOST_AUTO_TEST_CASE(what_the_policy_refuses_is_refused_in_its_words) {
  scheduler_rig::options o;
  o.policy = std::make_shared<stubborn>(
    planning::refuse{core::fail(ec::overloaded, "not now"), 7s});
  scheduler_rig rig{o};
  const auto id = rig.submit();
  BOOST_TEST(rig.answer_to(id).failure.text == "not now");
  BOOST_TEST((rig.answer_to(id).retry_after == 7s));
}

BOOST_AUTO_TEST_CASE(a_route_that_is_not_in_the_plan_is_refused) {
  const planning::choice wrong[] = {planning::go{core::route_id{9}},
                                    planning::need{}};
  for (const auto& choice : wrong) {
    scheduler_rig::options o;
    o.policy = std::make_shared<stubborn>(choice);
    scheduler_rig rig{o};
    BOOST_TEST((rig.failure_of(rig.submit()) == ec::internal));
  }
}

// -- the arena's bounds -------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_full_arena_is_back_pressure_and_then_progress) {
  scheduler_rig::options o;
  o.slots = {2, 2, 0};
  scheduler_rig rig{o};
  rig.add_cpu();
  rig.add_device(device);
  std::vector<core::request_id> ids;
  for (int i = 0; i < 10; ++i)
    ids.push_back(rig.submit());
  // One state is left for the device, which needs it to take over the first
  // request.
  BOOST_TEST(rig.count<prepare>() == 1u);
  BOOST_TEST(rig.sut->counts().slot_waits > 0u);
  BOOST_REQUIRE(rig.work_off());
  for (const auto id : ids)
    BOOST_TEST((rig.failure_of(id) == ec::none));
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(a_slow_gateway_holds_up_work_and_loses_none) {
  scheduler_rig::options o;
  o.slots = {2, 2, 0};
  scheduler_rig rig{o};
  rig.add_cpu();
  rig.add_device(device);
  const auto first = rig.submit();
  const auto second = rig.submit();
  rig.done(rig.take<prepare>());
  rig.done(rig.take<denoise>());
  rig.done(rig.take<finish>());
  BOOST_TEST(rig.answered(first));
  // The gateway has one image slot, and the encoder would need the other. No
  // slot is left for the second request's image, so it is not even prepared.
  BOOST_TEST(rig.count<prepare>() == 0u);
  rig.taken(first);
  rig.done(rig.take<prepare>());
  rig.done(rig.take<denoise>());
  rig.done(rig.take<finish>());
  BOOST_TEST((rig.failure_of(second) == ec::none));
}

BOOST_AUTO_TEST_CASE(rows_are_prepared_ahead_of_the_devices_up_to_a_bound) {
  scheduler_rig::options o;
  o.slots = {64, 8, 0};
  scheduler_rig rig{o};
  rig.add_cpu(scheduler_rig::life(1), 64);
  rig.add_device(device, 3);
  for (int i = 0; i < 40; ++i)
    rig.submit();
  size_t prepared = 0;
  while (auto p = rig.next<prepare>()) {
    rig.done(p->second);
    ++prepared;
  }
  // Three rows run, and twice as many are prepared.
  BOOST_TEST(rig.count<denoise>() == 3u);
  BOOST_TEST(prepared == 9u);
  rig.done(rig.take<denoise>());
  BOOST_TEST(rig.count<denoise>() == 3u);
  BOOST_TEST(rig.count<prepare>() == 1u);
}

BOOST_AUTO_TEST_CASE(who_comes_beside_another_tenants_crowd_is_next) {
  scheduler_rig::options o;
  o.slots = {128, 32, 0};
  scheduler_rig rig{o};
  rig.add_cpu(scheduler_rig::life(1), 64);
  rig.add_device(device, 16, 8);
  const auto prepare_all = [&] {
    size_t n = 0;
    for (; auto p = rig.next<prepare>(); ++n)
      rig.done(p->second);
    return n;
  };
  const auto submit_for = [&](uint32_t tenant) {
    return rig.submit(
      [&](core::request& x) { x.tenant = core::tenant_id{tenant}; });
  };
  for (int i = 0; i < 100; ++i)
    submit_for(1);
  BOOST_TEST(prepare_all() > 14u);
  // Two of sixteen seats are left to other tenants.
  BOOST_TEST(rig.count<denoise>() == 14u);
  const auto id = submit_for(2);
  BOOST_TEST(prepare_all() == 1u);
  BOOST_TEST(rig.count<denoise>() == 15u);
  denoise last;
  while (auto d = rig.next<denoise>())
    last = d->second;
  BOOST_TEST((last.ticket.id == id));
  BOOST_TEST((last.tenant == core::tenant_id{2}));
}

// A tenant that comes again beside one of a larger share is behind all of its
// requests, more than a look at the queues returns.
BOOST_AUTO_TEST_CASE(a_crowd_of_a_larger_share_hides_nobody) {
  crowded rig;
  for (int i = 0; i < 100; ++i)
    rig.submit_for(1, 1'000);
  BOOST_TEST(rig.count<denoise>() == 14u);
  for (int turn = 0; turn < 3; ++turn) {
    const auto id = rig.submit_for(2);
    BOOST_REQUIRE(rig.count<denoise>() == 15u);
    const auto last = test::read_as<denoise>(rig.sent.back().what);
    BOOST_REQUIRE((last && last->ticket.id == id));
    rig.sent.pop_back();
    rig.done(*last);
  }
}

// The last seats of the first device are left for others while the second one,
// which has twice as many, has only as many rows.
BOOST_AUTO_TEST_CASE(seats_left_at_one_device_leave_no_other_one_empty) {
  crowded rig;
  rig.add_device(scheduler_rig::life(3), 32, 16);
  for (int i = 0; i < 100; ++i)
    rig.submit_for(1);
  BOOST_TEST(rig.count<denoise>() == 14u + 28u);
}

BOOST_AUTO_TEST_CASE(seats_are_left_only_while_somebody_may_come) {
  crowded rig;
  for (uint32_t tenant = 2; tenant <= 6; ++tenant)
    rig.submit_for(tenant);
  while (auto d = rig.next<denoise>())
    rig.done(d->second);
  while (auto f = rig.next<finish>())
    rig.done(f->second);
  for (int i = 0; i < 100; ++i)
    rig.submit_for(1);
  BOOST_TEST(rig.count<denoise>() == 11u);
  rig.tick(1s);
  BOOST_TEST(rig.count<denoise>() == 11u);
  rig.tick(1s);
  BOOST_TEST(rig.count<denoise>() == 14u);
}

BOOST_AUTO_TEST_CASE(no_seat_is_left_for_who_draws_elsewhere) {
  crowded rig;
  for (uint32_t tenant = 2; tenant <= 6; ++tenant)
    rig.submit_for(tenant);
  BOOST_TEST(rig.count<denoise>() == 5u);
  rig.sent.clear();
  rig.add_device(scheduler_rig::life(3), 16, 8);
  for (int i = 0; i < 100; ++i)
    rig.submit_for(1);
  // Two of sixteen seats of each device are left to whoever comes.
  size_t there = 0;
  while (auto d = rig.next<denoise>())
    there += d->first.process == scheduler_rig::life(3) ? 1u : 0u;
  BOOST_TEST(there == 14u);
}

BOOST_AUTO_TEST_CASE(each_tenant_that_was_there_finds_a_seat) {
  for (const bool recent : {true, false})
    BOOST_TEST_CONTEXT(recent) {
      scheduler_rig::options o;
      o.slots = {128, 64, 0};
      scheduler_rig rig{o};
      rig.add_cpu(scheduler_rig::life(1), 64);
      rig.add_device(device, 16, 8);
      const auto prepare_all = [&] {
        while (auto p = rig.next<prepare>())
          rig.done(p->second);
      };
      const auto submit_for = [&](uint32_t tenant) {
        return rig.submit(
          [&](core::request& x) { x.tenant = core::tenant_id{tenant}; });
      };
      // Five tenants have one request after another; all of them just ended.
      for (uint32_t tenant = 2; tenant <= 6; ++tenant)
        submit_for(tenant);
      prepare_all();
      while (auto d = rig.next<denoise>())
        rig.done(d->second);
      while (auto f = rig.next<finish>())
        rig.done(f->second);
      if (!recent)
        rig.tick(3s);
      for (int i = 0; i < 100; ++i)
        submit_for(1);
      prepare_all();
      // Five of sixteen seats are left to them, or two to whoever comes.
      BOOST_TEST(rig.count<denoise>() == (recent ? 11u : 14u));
      for (uint32_t tenant = 2; tenant <= 6; ++tenant)
        submit_for(tenant);
      prepare_all();
      BOOST_TEST(rig.count<denoise>() == 16u);
    }
}

BOOST_AUTO_TEST_CASE(without_a_device_a_few_rows_are_prepared_all_the_same) {
  scheduler_rig::options o;
  o.slots = {64, 8, 0};
  scheduler_rig rig{o};
  rig.add_cpu(scheduler_rig::life(1), 64);
  for (int i = 0; i < 40; ++i)
    rig.submit();
  BOOST_TEST(rig.count<prepare>() == 4u);
}

// -- who takes what -----------------------------------------------------------

BOOST_AUTO_TEST_CASE(two_workers_that_share_a_queue_spread_its_rows) {
  scheduler_rig rig;
  rig.add_cpu();
  for (int i = 0; i < 4; ++i)
    rig.submit();
  for (int i = 0; i < 4; ++i)
    rig.done(rig.take<prepare>());
  rig.add_device(scheduler_rig::life(2), 2);
  rig.add_device(scheduler_rig::life(3), 2);
  // The first tenant took two seats before the second tenant's requests
  // arrived.
  BOOST_TEST(rig.count<denoise>() == 4u);
  for (int i = 0; i < 4; ++i)
    rig.done(rig.take<denoise>());
  rig.sent.clear();
  std::multiset<uint32_t> places;
  scheduler_rig second;
  second.add_cpu();
  second.add_device(scheduler_rig::life(2), 4);
  second.add_device(scheduler_rig::life(3), 4);
  for (int i = 0; i < 4; ++i)
    second.submit();
  for (int i = 0; i < 4; ++i)
    second.done(second.take<prepare>());
  while (auto d = second.next<denoise>())
    places.insert(d->first.process.process.value);
  BOOST_TEST(places.count(2) == 2u);
  BOOST_TEST(places.count(3) == 2u);
}

BOOST_AUTO_TEST_CASE(a_worker_gets_no_more_than_its_seats) {
  scheduler_rig rig;
  rig.add_cpu(scheduler_rig::life(1), 2);
  rig.add_device(device, 2);
  for (int i = 0; i < 5; ++i)
    rig.submit();
  BOOST_TEST(rig.count<prepare>() == 2u);
  for (int i = 0; i < 5; ++i)
    rig.done(rig.take<prepare>());
  BOOST_TEST(rig.count<denoise>() == 2u);
  rig.done(rig.take<denoise>());
  BOOST_TEST(rig.count<denoise>() == 2u);
}

BOOST_AUTO_TEST_CASE(higher_priority_goes_first_and_ageing_raises_it) {
  scheduler_rig rig;
  rig.add_cpu();
  const auto low =
    rig.submit([](core::request& x) { x.prio = core::priority::low; });
  for (int i = 0; i < 1; ++i)
    rig.done(rig.take<prepare>());
  const auto normal = rig.submit();
  const auto high =
    rig.submit([](core::request& x) { x.prio = core::priority::high; });
  while (auto p = rig.next<prepare>())
    rig.done(p->second);
  rig.add_device(device, 1);
  auto d = rig.take<denoise>();
  BOOST_TEST((d.ticket.id == high));
  // After twice the ageing time, low is as high as high.
  rig.now += 61s;
  const auto late =
    rig.submit([](core::request& x) { x.prio = core::priority::high; });
  rig.done(rig.take<prepare>());
  rig.done(d);
  d = rig.take<denoise>();
  BOOST_TEST((d.ticket.id == low || d.ticket.id == normal));
  rig.done(d);
  d = rig.take<denoise>();
  BOOST_TEST((d.ticket.id == low || d.ticket.id == normal));
  rig.done(d);
  BOOST_TEST((rig.take<denoise>().ticket.id == late));
}

BOOST_AUTO_TEST_CASE(an_announcement_is_heard_once_and_with_seats_alone) {
  scheduler_rig rig;
  rig.add_device(device);
  rig.add_device(device);
  rig.add_device(scheduler_rig::life(3), 0);
  BOOST_TEST(rig.sut->cluster().workers.size() == 1u);
  BOOST_TEST(rig.sut->counts().stale_replies == 2u);
  BOOST_TEST(rig.clusters.size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_older_plan_is_not_taken_back_in_force) {
  scheduler_rig rig;
  rig.add_device(device);
  auto plan = std::make_shared<planning::plan>(
    rig.policy->replan({}, *rig.profile, rig.sut->cluster(), {}));
  plan->version = 5;
  plan->workers.at(0).level = 3;
  rig.event([&](auto& h) { h.publish(plan, rig.now); });
  BOOST_TEST(rig.sut->cluster().workers.at(0).level == 3u);
  auto old = std::make_shared<planning::plan>(*plan);
  old->version = 4;
  old->workers.at(0).level = 1;
  rig.event([&](auto& h) { h.publish(old, rig.now); });
  BOOST_TEST(rig.sut->status().plan->version == 5u);
  BOOST_TEST(rig.sut->cluster().workers.at(0).level == 3u);
}

BOOST_AUTO_TEST_CASE(the_state_for_people_counts_rows_seats_and_slots) {
  scheduler_rig rig;
  rig.add_cpu();
  rig.add_device(device);
  for (int i = 0; i < 3; ++i)
    rig.submit();
  rig.done(rig.take<prepare>());
  rig.submit();
  const auto s = rig.sut->status();
  BOOST_TEST(s.running == 4u);
  BOOST_TEST(s.waiting == 0u);
  BOOST_TEST(s.slots == 16u);
  // Six slots are in use: three states that are being drawn, one that is read,
  // one that is written, and its image.
  BOOST_TEST(s.slots_in_use == 6u);
  BOOST_REQUIRE(s.workers.size() == 1u);
  BOOST_TEST(s.workers[0].seats_taken == 1u);
  BOOST_TEST(s.workers[0].variants.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
