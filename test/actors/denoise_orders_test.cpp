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
  for (const uint64_t id : {1, 2, 3})
    give(work(id));
  BOOST_TEST(has(3));
  cancel(3);
  BOOST_TEST(!has(3));
}

BOOST_AUTO_TEST_SUITE_END()
