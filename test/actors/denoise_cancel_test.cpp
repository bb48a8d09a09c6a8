// SPDX-License-Identifier: Apache-2.0
#include "actors/denoise_step_rig.hpp"

namespace {

using namespace atelier;
using core::ec;
using rows = std::vector<core::ticket>;

} // namespace

BOOST_FIXTURE_TEST_SUITE(denoise_cancel_test, test::denoise_step_rig)

BOOST_AUTO_TEST_CASE(a_waiting_row_is_cancelled_at_once) {
  give(work(1));
  for (uint64_t id = 2; id <= 3; ++id)
    give(work(id));
  ran(1, {1});
  cancel(3);
  BOOST_REQUIRE(replies().size() == 1u);
  BOOST_TEST((replies()[0].failure.code == ec::cancelled));
  // The row was never opened.
  BOOST_TEST(device->closed.empty());
}

BOOST_AUTO_TEST_CASE(a_running_row_is_cancelled_at_the_boundary) {
  give(work(1));
  cancel(1);
  BOOST_TEST(device->interrupts == 1);
  BOOST_TEST(replies().empty());
  ran(1, {1});
  BOOST_REQUIRE(replies().size() == 1u);
  BOOST_TEST((replies()[0].failure.code == ec::cancelled));
  BOOST_TEST((device->closed == rows{row(1)}));
  BOOST_TEST(device->runs.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_decoding_row_is_cancelled_after_its_decoding) {
  give(work(1, 1));
  ran(1, {1});
  cancel(1);
  BOOST_TEST(replies().empty());
  decoded(1);
  BOOST_TEST((replies().at(0).failure.code == ec::cancelled));
}

BOOST_AUTO_TEST_CASE(a_cancel_that_overtakes_its_work_is_remembered) {
  cancel(1);
  BOOST_TEST(replies().empty());
  give(work(1));
  BOOST_TEST((replies().at(0).failure.code == ec::cancelled));
  BOOST_TEST(device->opened.empty());
  // Another attempt is independent of the cancelled one.
  auto again = work(1);
  again.ticket.attempt = 2;
  give(again);
  BOOST_TEST(device->opened.size() == 1u);
}

BOOST_AUTO_TEST_CASE(work_and_cancel_meet_in_both_orders) {
  for (const bool work_first : {true, false}) {
    start(2);
    if (work_first)
      caf::anon_send(sut, work(1));
    caf::anon_send(sut, actors::cancel_work{row(1)});
    if (!work_first)
      caf::anon_send(sut, work(1));
    run();
    if (work_first)
      ran(0, {0});
    BOOST_REQUIRE(replies().size() == 1u);
    BOOST_TEST((replies()[0].failure.code == ec::cancelled));
  }
}

BOOST_AUTO_TEST_CASE(tombstones_are_bounded_and_the_oldest_goes_first) {
  for (uint64_t id = 1; id <= 1025; ++id) {
    caf::anon_send(sut, actors::cancel_work{row(id)});
    caf::anon_send(sut, actors::cancel_work{row(id)});
  }
  run();
  const auto& st = state<actors::denoise_step_state>(sut);
  BOOST_TEST(st.tombstones.size() == 1024u);
  BOOST_TEST(st.tombstone_order.size() == 1024u);
  give(work(1));
  BOOST_TEST(device->opened.size() == 1u);
  give(work(1025));
  BOOST_TEST(replies().size() == 1u);
}

BOOST_AUTO_TEST_CASE(work_that_comes_twice_is_done_once) {
  give(work(1, 1));
  give(work(1, 1));
  ran(1, {1});
  decoded(1);
  BOOST_TEST(device->opened.size() == 1u);
  BOOST_TEST(replies().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
