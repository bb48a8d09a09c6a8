// SPDX-License-Identifier: Apache-2.0
// The states that a row of the test card keeps during its run.
#include "caught_log.hpp"
#include "live_executor.hpp"
#include <atelier/gpu/state_format.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::gpu;

namespace {

using steps = std::vector<uint32_t>;

struct keeping : test::live_executor {
  std::vector<std::byte> kept(const ipc::slot_ref& slot) const {
    const auto bytes = slots->view(slot);
    BOOST_REQUIRE(bytes);
    return {bytes->begin(), bytes->end()};
  }

  std::vector<std::byte> state(const open_job& job) const {
    std::vector<std::byte> bytes;
    BOOST_REQUIRE(slots->read(job.state, bytes));
    return bytes;
  }

  /// Runs one row and returns its part of the run's report.
  row_report run_alone(const open_job& job, uint32_t most) {
    const auto did = run({job.ticket}, most);
    BOOST_REQUIRE_EQUAL(did.rows.size(), 1u);
    return did.rows.front();
  }

  void expect_image(const open_job& job) {
    BOOST_TEST(decode(job.ticket).failure.text == "");
    BOOST_TEST((image(job) == expected(job)));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(test_card_captures, keeping)

BOOST_AUTO_TEST_CASE(what_is_kept_is_what_is_published_without_its_preview) {
  auto keeps = job(1, 6);
  keeps.preview_every = 1;
  const auto into = keep(keeps, {1, 2, 3, 4, 5, 6});
  auto plain = job(1, 6);
  plain.ticket.attempt = 2;
  sut->open(keeps);
  sut->open(plain);
  for (uint32_t n = 1; n <= 6; ++n) {
    BOOST_TEST(published(into[n - 1]) == 0u);
    BOOST_TEST(run_alone(keeps, 1).captured == steps{n},
               boost::test_tools::per_element());
    run_alone(plain, 1);
    BOOST_TEST(published(into[n - 1]) == 1u);
    BOOST_TEST((kept(into[n - 1]) == state(plain)));
    BOOST_TEST(parse_state(state(keeps))->preview.rgb.empty() == (n == 6));
  }
  expect_image(keeps);
  expect_image(plain);
}

BOOST_AUTO_TEST_CASE(a_row_that_starts_from_a_kept_state_ends_alike) {
  uint64_t id = 0;
  const auto check = [&](open_job first) {
    const auto count = core::steps_to_run(first.recipe);
    steps all;
    for (uint32_t n = 1; n <= count; ++n)
      all.push_back(n);
    const auto into = keep(first, all);
    sut->open(first);
    BOOST_TEST(run_alone(first, 50).captured == all,
               boost::test_tools::per_element());
    expect_image(first);
    auto last = first;
    for (const auto n : all) {
      last = from_kept(last, into[n - 1], n);
      sut->open(last);
      const auto did = run_alone(last, 50);
      BOOST_TEST(did.failure.text == "");
      BOOST_TEST(did.steps_done == count);
      expect_image(last);
    }
  };
  check(job(++id, 8));
  for (const bool masked : {false, true})
    check(image_job(++id, 10, 0.5f, masked));
}

BOOST_AUTO_TEST_CASE(captures_do_not_wait_for_a_publication) {
  auto x = job(1, 10);
  x.publish_every = 4;
  const auto into = keep(x, {2, 4, 10});
  sut->open(x);
  auto did = run_alone(x, 3);
  BOOST_TEST(!did.published);
  BOOST_TEST(did.captured == steps{2}, boost::test_tools::per_element());
  BOOST_TEST(published(into[0]) == 1u);
  BOOST_TEST(published(x.state) == 0u);
  BOOST_TEST(run_alone(x, 3).captured == steps{4},
             boost::test_tools::per_element());
  BOOST_TEST(published(x.state) == 5u);
  BOOST_TEST(run_alone(x, 3).captured.empty());
  BOOST_TEST(run_alone(x, 3).captured == steps{10},
             boost::test_tools::per_element());
  expect_image(x);
}

BOOST_AUTO_TEST_CASE(states_that_a_row_has_passed_are_left_out) {
  auto first = job(1, 6);
  const auto early = keep(first, {3});
  sut->open(first);
  run_alone(first, 3);
  auto next = from_kept(first, early[0], 3);
  const auto into = keep(next, {2, 3, 4});
  sut->open(next);
  BOOST_TEST(run_alone(next, 50).captured == steps{4},
             boost::test_tools::per_element());
  BOOST_TEST(published(into[0]) == 0u);
  BOOST_TEST(published(into[1]) == 0u);
  BOOST_TEST(published(into[2]) == 1u);
}

BOOST_AUTO_TEST_CASE(a_capture_that_fails_is_logged_once_and_fails_no_row) {
  auto x = job(1, 6);
  auto into = keep(x, {1, 2, 3, 4});
  // One slot is written already, and the next belongs to another row by now.
  BOOST_REQUIRE(slots->publish(into[0], 1, 0));
  ++into[1].generation;
  slots->open(into[1]);
  test::caught_log log;
  sut->open(x);
  const auto did = run_alone(x, 50);
  BOOST_TEST(did.failure.text == "");
  BOOST_TEST(did.steps_done == 6u);
  BOOST_TEST(did.captured == (steps{3, 4}), boost::test_tools::per_element());
  BOOST_TEST(published(into[1]) == 0u);
  expect_image(x);
  BOOST_TEST(log.lines_with("is not kept") == 2u);
}

BOOST_AUTO_TEST_CASE(a_slot_that_is_too_small_keeps_nothing) {
  slots = std::make_shared<ipc::heap_store>(
    7, std::array<uint32_t, ipc::slot_kinds>{8, 8, 8},
    std::array<uint64_t, ipc::slot_kinds>{136, 1088, 64});
  start();
  auto x = job(1, 4);
  const auto into = keep(x, {2});
  test::caught_log log;
  sut->open(x);
  const auto did = run_alone(x, 50);
  BOOST_TEST(did.failure.text == "");
  BOOST_TEST(did.captured.empty());
  BOOST_TEST(published(into[0]) == 0u);
  expect_image(x);
  BOOST_TEST(log.lines_with("does not fit its slot") == 1u);
}

BOOST_AUTO_TEST_CASE(rows_of_a_batch_keep_what_each_was_asked_for) {
  auto first = job(1, 6);
  auto second = job(2, 6);
  auto third = job(3, 6);
  const auto of_first = keep(first, {2, 6});
  const auto of_second = keep(second, {1, 2, 5});
  for (const auto& x : {first, second, third})
    sut->open(x);
  const auto did = run({first.ticket, second.ticket, third.ticket}, 50);
  BOOST_TEST(did.steps == 6u);
  BOOST_TEST(did.rows.at(0).captured == (steps{2, 6}),
             boost::test_tools::per_element());
  BOOST_TEST(did.rows.at(1).captured == (steps{1, 2, 5}),
             boost::test_tools::per_element());
  BOOST_TEST(did.rows.at(2).captured.empty());
  for (const auto& x : {first, second, third})
    expect_image(x);
  const auto again = from_kept(second, of_second[2], 5);
  sut->open(again);
  run_alone(again, 1);
  expect_image(again);
}

BOOST_AUTO_TEST_CASE(a_row_that_fails_tells_what_it_kept) {
  auto x = job(1, 8);
  const auto into = keep(x, {2, 6});
  // Its publication after step 4 is refused, because the slot holds a later
  // one.
  x.publish_every = 4;
  BOOST_REQUIRE(slots->publish(x.state, 8, 0));
  sut->open(x);
  const auto failed = run_alone(x, 50);
  BOOST_TEST((failed.failure.code == core::ec::incompatible));
  BOOST_TEST(failed.captured == steps{2}, boost::test_tools::per_element());
  BOOST_TEST(published(into[0]) == 1u);
  BOOST_TEST(published(into[1]) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
