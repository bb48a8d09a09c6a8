// SPDX-License-Identifier: Apache-2.0
#include "actors/denoise_step_rig.hpp"
#include <atelier/gpu/device/virtual_executor.hpp>
#include <atelier/simulation/virtual_timers.hpp>

#include <map>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;
using ipc::slot_kind;
using steps = std::vector<uint32_t>;

struct keeping : test::denoise_step_rig {
  /// Returns work that keeps states in consecutive capture slots.
  static actors::denoise keeps(uint64_t id, const steps& after,
                               uint32_t count = 4) {
    auto x = work(id, count);
    for (const auto n : after)
      x.captures.push_back(
        {n, {1, static_cast<uint32_t>(10 * id) + n, 1, slot_kind::capture}});
    return x;
  }

  /// Ends the last run, of one step, with the states that each of its rows
  /// kept.
  void kept(uint32_t done, const std::map<uint64_t, steps>& by_row,
            const core::error& why = {}) {
    gpu::run_report x;
    x.steps = 1;
    for (const auto who : last_run()) {
      const auto at = by_row.find(who.id.value);
      x.rows.push_back(
        {who, done, true, why, {}, at != by_row.end() ? at->second : steps{}});
    }
    device->events.ran(std::move(x));
    run();
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(denoise_captures_test, keeping)

BOOST_AUTO_TEST_CASE(the_device_is_told_what_to_keep) {
  const auto x = keeps(1, {1, 3});
  give(x);
  BOOST_TEST((device->opened.at(0).captures == x.captures));
  give(work(2));
  kept(1, {});
  BOOST_TEST(device->opened.at(1).captures.empty());
}

BOOST_AUTO_TEST_CASE(what_was_kept_is_told_once_with_the_end_of_the_row) {
  give(keeps(1, {1, 3}));
  give(work(2));
  kept(1, {{1, {1}}});
  kept(2, {});
  kept(3, {{1, {3}}});
  BOOST_TEST(replies().empty());
  kept(4, {});
  decoded(1);
  decoded(2);
  BOOST_REQUIRE(replies().size() == 2u);
  BOOST_TEST(replies()[0].captured == (steps{1, 3}),
             boost::test_tools::per_element());
  BOOST_TEST(replies()[1].captured.empty());
}

BOOST_AUTO_TEST_CASE(only_what_the_device_kept_is_told) {
  give(keeps(1, {1, 2, 3}));
  for (uint32_t n = 1; n <= 4; ++n)
    kept(n, {{1, n == 2 ? steps{2} : steps{}}});
  decoded(1);
  BOOST_TEST(replies().at(0).captured == steps{2},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_row_that_fails_tells_what_was_kept_before) {
  give(keeps(1, {1, 2}));
  kept(1, {{1, {1}}});
  // The report of a failure also lists a kept state.
  kept(2, {{1, {2}}}, core::fail(ec::internal, "a fault"));
  BOOST_TEST(replies().at(0).failure.text == "a fault");
  BOOST_TEST(replies().at(0).captured == (steps{1, 2}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_decoding_that_fails_takes_nothing_back) {
  give(keeps(1, {4}));
  for (uint32_t n = 1; n <= 4; ++n)
    kept(n, {{1, n == 4 ? steps{4} : steps{}}});
  decoded(1, core::fail(ec::io_failed, "no slot"));
  BOOST_TEST((replies().at(0).failure.code == ec::io_failed));
  BOOST_TEST(replies().at(0).captured == steps{4},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_running_row_that_is_cancelled_tells_what_was_kept) {
  give(keeps(1, {1, 2}));
  kept(1, {{1, {1}}});
  cancel(1);
  BOOST_TEST(replies().empty());
  kept(2, {{1, {2}}});
  BOOST_REQUIRE(replies().size() == 1u);
  BOOST_TEST((replies()[0].failure.code == ec::cancelled));
  BOOST_TEST(replies()[0].captured == (steps{1, 2}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_row_that_is_cancelled_between_its_turns_tells_it) {
  // Rows of two sizes take turns.
  give(keeps(1, {1}, 100));
  give(work(2, 100, 64));
  std::map<uint64_t, uint32_t> done;
  while (done[1] == 0 || last_run().front() == row(1)) {
    const auto who = last_run().front().id.value;
    ++done[who];
    kept(done[who], {{1, done[1] == 1 && who == 1 ? steps{1} : steps{}}});
    BOOST_REQUIRE(done[who] < 100);
  }
  cancel(1);
  BOOST_REQUIRE(replies().size() == 1u);
  BOOST_TEST((replies()[0].failure.code == ec::cancelled));
  BOOST_TEST(replies()[0].captured == steps{1},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_decoding_row_that_is_cancelled_tells_it) {
  give(keeps(1, {4}));
  for (uint32_t n = 1; n <= 4; ++n)
    kept(n, {{1, n == 4 ? steps{4} : steps{}}});
  cancel(1);
  decoded(1);
  BOOST_TEST((replies().at(0).failure.code == ec::cancelled));
  BOOST_TEST(replies().at(0).captured == steps{4},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(work_that_was_cancelled_before_it_came_kept_nothing) {
  cancel(1);
  give(keeps(1, {1}));
  BOOST_TEST(device->opened.empty());
  BOOST_TEST(replies().at(0).captured.empty());
}

BOOST_AUTO_TEST_CASE(another_attempt_tells_what_it_kept_itself) {
  auto x = keeps(1, {1, 3});
  give(x);
  kept(1, {{1, {1}}});
  cancel(1);
  kept(2, {});
  x.ticket.attempt = 2;
  x.steps_done = 2;
  give(x);
  kept(3, {{1, {3}}});
  kept(4, {});
  device->decoded(x.ticket);
  run();
  BOOST_TEST(replies().at(1).captured == steps{3},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_device_in_virtual_time_keeps_states) {
  auto timers = std::make_shared<runtime::virtual_timers>(sys);
  auto slots = std::make_shared<ipc::heap_store>(
    1u, std::array<uint32_t, ipc::slot_kinds>{200, 100, 100});
  auto device_in_time = std::make_shared<gpu::virtual_executor>(
    gpu::virtual_config{test::card_profile(), 0, 0}, timers, slots);
  actors::denoise_step_config c;
  c.self = me;
  c.max_batch = 2;
  c.run_steps = 2;
  c.publish_every = 3;
  c.device_executor = device_in_time;
  c.scheduler = scheduler;
  const auto worker = spawn(actors::denoise_step, c);
  const std::vector<actors::denoise> all{keeps(1, {2, 4}), keeps(2, {1, 2, 3}),
                                         work(3)};
  for (const auto& x : all) {
    for (const auto& slot : {x.from, x.state, x.image})
      slots->open(slot);
    for (const auto& capture : x.captures)
      slots->open(capture.into);
    BOOST_REQUIRE(slots->publish(x.from, 1, 0));
    caf::anon_send(worker, x);
  }
  run();
  advance(1s);
  BOOST_REQUIRE(replies().size() == 3u);
  for (const auto& x : replies()) {
    steps asked;
    for (const auto& capture : all[x.ticket.id.value - 1].captures) {
      asked.push_back(capture.steps);
      BOOST_TEST(*slots->published(capture.into) == 1u);
    }
    BOOST_TEST((x.failure.code == ec::none));
    BOOST_TEST(x.captured == asked, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
