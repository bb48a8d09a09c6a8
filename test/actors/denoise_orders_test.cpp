// SPDX-License-Identifier: Apache-2.0

// What a device's worker knows of its orders.

#include "actors/denoise_step_rig.hpp"

#include <map>
#include <utility>

namespace {

using namespace atelier;
using actors::ask_order;
using actors::has_order;
using core::ec;
using namespace std::chrono_literals;

struct fixture : test::denoise_step_rig {
  bool has(uint64_t id) {
    tell(sut, ask_order{row(id)});
    const auto last = scheduler->of<has_order>().back();
    BOOST_TEST((last.ticket == row(id)));
    return last.has;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(denoise_orders_test, fixture)

BOOST_AUTO_TEST_CASE(it_has_a_row_from_its_order_to_its_reply) {
  BOOST_TEST(!has(1));
  give(work(1));
  BOOST_TEST(has(1));
  ran(4, {4});
  // In decoding.
  BOOST_TEST(has(1));
  decoded(1);
  BOOST_TEST(!has(1));
}

BOOST_AUTO_TEST_CASE(it_has_a_row_that_waits_for_a_place) {
  for (uint64_t id = 1; id <= 3; ++id)
    give(work(id));
  BOOST_TEST(has(3));
  cancel(3);
  BOOST_TEST(!has(3));
}

BOOST_AUTO_TEST_CASE(the_device_knows_better_how_many_steps_are_left) {
  auto order = work(1);
  // The order believes that the state has three of four steps.
  order.steps_done = 3;
  give(order);
  ran(1, {1});
  ran(1, {2});
  ran(1, {3});
  BOOST_TEST(device->decoding.empty());
  BOOST_TEST(has(1));
  ran(1, {4});
  decoded(1);
  BOOST_REQUIRE(replies().size() == 1u);
  BOOST_TEST((replies()[0].failure.code == ec::none));
  BOOST_TEST(replies()[0].steps_run == 4u);
}

BOOST_AUTO_TEST_CASE(a_row_that_left_the_batch_is_answered) {
  give(work(1));
  // Nothing but a fault takes it out.
  state<actors::denoise_step_state>(sut).batch->remove(row(1));
  ran(1, {1});
  BOOST_TEST(!has(1));
  BOOST_REQUIRE(replies().size() == 1u);
  BOOST_TEST((replies()[0].failure.code == ec::internal));
}

BOOST_AUTO_TEST_CASE(a_device_that_throws_gives_its_rows_back) {
  for (const bool opens : {true, false}) {
    start(2);
    give(work(1));
    (opens ? device->open_throws : device->run_throws) = true;
    ran(1, {1});
    if (opens)
      give(work(2));
    ran(1, {2});
    // It goes on with the next one.
    device->open_throws = device->run_throws = false;
    const auto given_back = replies();
    BOOST_REQUIRE(!given_back.empty());
    for (const auto& x : given_back)
      BOOST_TEST((x.failure.code == ec::unavailable));
    give(work(3));
    BOOST_TEST(has(3));
    ran(4, {4});
    decoded(3);
    BOOST_TEST((replies().back().failure.code == ec::none));
  }
}

BOOST_AUTO_TEST_CASE(the_last_step_of_a_row_is_paid_for_too) {
  // Each row of the first tenant is done after one step of 300 ms; the second
  // tenant has one row, with steps of 20 ms.
  uint64_t id = 1;
  const auto come = [&] {
    auto x = work(++id, 1, 64);
    x.tenant = core::tenant_id{1};
    give(x);
  };
  auto other = work(1, 100'000);
  other.tenant = core::tenant_id{2};
  give(other);
  come();
  come();
  uint32_t done = 0;
  core::timespan first{0};
  core::timespan second{0};
  for (int i = 0; i < 400; ++i) {
    const auto job = device->runs.back();
    if (job.rows.front() == row(1)) {
      done += job.steps;
      second += 20ms * job.steps;
      device->ran(job.steps, {done}, {}, {}, 20ms);
      run();
      continue;
    }
    first += 300ms;
    device->ran(1, std::vector<uint32_t>(job.rows.size(), 1), {}, {}, 300ms);
    run();
    for (const auto who : job.rows) {
      decoded(who.id.value);
      come();
    }
  }
  BOOST_TEST(core::to_seconds(first) < 0.6 * core::to_seconds(first + second));
  BOOST_TEST(core::to_seconds(first) > 0.4 * core::to_seconds(first + second));
}

BOOST_AUTO_TEST_CASE(the_share_of_an_order_reaches_batch_and_device) {
  start(1);
  auto one = work(1, 1'000);
  one.tenant = core::tenant_id{1};
  auto other = work(2, 1'000);
  other.tenant = core::tenant_id{2};
  other.share = 4;
  give(one);
  give(other);
  uint32_t done_one = 0;
  uint32_t done_other = 0;
  for (int i = 0; i < 200; ++i) {
    const auto job = device->runs.back();
    auto& done = job.rows.front() == row(1) ? done_one : done_other;
    done += job.steps;
    device->ran(job.steps, {done}, {}, {}, 10ms);
    run();
  }
  BOOST_TEST(done_other > 3 * done_one);
  BOOST_TEST(done_other < 5 * done_one);
  BOOST_TEST_REQUIRE(device->opened.size() == 2u);
  BOOST_TEST(device->opened[0].share == 1u);
  BOOST_TEST(device->opened[1].share == 4u);
}

BOOST_AUTO_TEST_CASE(
  an_order_of_a_larger_share_leads_until_it_is_a_turn_ahead) {
  start(1);
  constexpr uint64_t others = 4;
  std::map<uint64_t, uint32_t> done;
  const auto step = [&] {
    const auto job = device->runs.back();
    const auto whose = job.rows.front().id.value;
    done[whose] += job.steps;
    device->ran(job.steps, {done[whose]}, {}, {}, 10ms);
    run();
    return std::pair{whose, job.steps};
  };
  for (uint64_t id = 1; id <= others; ++id) {
    auto x = work(id, 10'000);
    x.tenant = core::tenant_id{id};
    give(x);
  }
  // One is within its turn, and others had as little as whoever comes has.
  for (int i = 0; i < 203; ++i)
    step();
  auto x = work(others + 1, 40);
  x.tenant = core::tenant_id{others + 1};
  x.share = 12;
  give(x);
  step();
  uint32_t beside = 0;
  while (done[others + 1] < 40) {
    const auto [whose, steps] = step();
    beside += whose <= others ? steps : 0;
  }
  BOOST_TEST(beside == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
