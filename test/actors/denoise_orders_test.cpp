// SPDX-License-Identifier: Apache-2.0

// What a device's worker knows of its orders.

#include "actors/denoise_step_rig.hpp"

namespace {

using namespace atelier;
using actors::ask_order;
using actors::has_order;
using core::ec;

struct fixture : test::denoise_step_rig {
  bool has(uint64_t id) {
    tell(sut, ask_order{row(id)});
    const auto last = hub->of<has_order>().back();
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

BOOST_AUTO_TEST_SUITE_END()
