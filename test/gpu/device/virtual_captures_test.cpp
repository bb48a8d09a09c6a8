// SPDX-License-Identifier: Apache-2.0
// The states that a row keeps during its run, in virtual time.
#include "../rig.hpp"
#include <atelier/gpu/device/virtual_executor.hpp>
#include <atelier/gpu/state_format.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::gpu;
using namespace std::chrono_literals;

namespace {

using steps = std::vector<uint32_t>;

struct keeping : test::rig {
  explicit keeping(bool payload = true)
    : test::rig(payload),
      timers(std::make_shared<test::manual_timers>()),
      sut(std::make_unique<virtual_executor>(virtual_config{known}, timers,
                                             slots)) {
    sut->connect({[this](run_report x) { ran.push_back(std::move(x)); },
                  [this](decode_report x) { decoded.push_back(x); }});
  }

  void drain() {
    while (timers->step())
      continue;
  }

  void draw(const open_job& job) {
    sut->open(job);
    sut->run({{job.ticket}, 50});
    sut->decode(job.ticket);
    drain();
    BOOST_REQUIRE(ran.back().rows.size() == 1u);
    BOOST_TEST(ran.back().rows[0].failure.text == "");
    BOOST_TEST((image(job) == expected(job)));
  }

  std::shared_ptr<test::manual_timers> timers;
  std::unique_ptr<virtual_executor> sut;
  std::vector<run_report> ran;
  std::vector<decode_report> decoded;
};

struct counting : keeping {
  counting() : keeping(false) {}
};

} // namespace

BOOST_AUTO_TEST_SUITE(virtual_captures)

BOOST_FIXTURE_TEST_CASE(one_run_keeps_every_state_that_it_passes, keeping) {
  auto first = job(1, 20);
  const auto into = keep(first, {2, 7, 20});
  draw(first);
  BOOST_TEST(ran[0].rows[0].captured == (steps{2, 7, 20}),
             boost::test_tools::per_element());
  auto last = first;
  for (size_t i = 0; i < into.size(); ++i) {
    const auto after = first.captures[i].steps;
    const auto bytes = slots->view(into[i]);
    BOOST_REQUIRE(bytes);
    const auto parts = parse_state(*bytes);
    BOOST_REQUIRE(parts);
    BOOST_TEST(parts->head.steps_done == after);
    last = from_kept(last, into[i], after);
    draw(last);
    BOOST_TEST(ran.back().steps == 20 - after);
    BOOST_TEST(ran.back().rows[0].captured.empty());
  }
}

BOOST_FIXTURE_TEST_CASE(keeping_takes_no_time, keeping) {
  auto x = job(1, 20);
  keep(x, {1, 2, 3, 4});
  sut->open(x);
  sut->run({{x.ticket}, 4});
  timers->advance(3ms + 40ms);
  BOOST_REQUIRE(ran.size() == 1u);
  BOOST_CHECK(ran[0].took == 43ms);
  BOOST_TEST(ran[0].rows[0].captured.size() == 4u);
}

BOOST_FIXTURE_TEST_CASE(each_capture_is_told_in_one_report, keeping) {
  auto x = job(1, 20);
  x.publish_every = 8;
  keep(x, {2, 3, 9});
  sut->open(x);
  for (int i = 0; i < 3; ++i)
    sut->run({{x.ticket}, 5});
  drain();
  BOOST_TEST(ran.at(0).rows[0].captured == (steps{2, 3}),
             boost::test_tools::per_element());
  BOOST_TEST(ran.at(1).rows[0].captured == steps{9},
             boost::test_tools::per_element());
  BOOST_TEST(ran.at(2).rows[0].captured.empty());
}

BOOST_FIXTURE_TEST_CASE(without_payload_a_capture_is_empty, counting) {
  auto first = job(1, 20);
  const auto into = keep(first, {5});
  sut->open(first);
  sut->run({{first.ticket}, 12});
  drain();
  BOOST_TEST(ran[0].rows[0].captured == steps{5},
             boost::test_tools::per_element());
  BOOST_TEST(published(into[0]) == 1u);
  BOOST_TEST(slots->view(into[0])->empty());
  const auto next = from_kept(first, into[0], 5);
  sut->open(next);
  sut->run({{next.ticket}, 50});
  drain();
  BOOST_TEST(ran[1].steps == 15u);
}

BOOST_FIXTURE_TEST_CASE(a_row_that_fails_tells_what_it_kept, keeping) {
  auto fails = job(1, 20);
  auto goes_on = job(2, 20);
  const auto into = keep(fails, {2, 4, 6});
  keep(goes_on, {6});
  sut->open(fails);
  sut->open(goes_on);
  sut->fail_step(fails.ticket, 5, core::fail(core::ec::internal, "by script"));
  sut->run({{fails.ticket, goes_on.ticket}, 10});
  drain();
  BOOST_TEST(ran[0].rows[0].failure.text == "by script");
  BOOST_TEST(ran[0].rows[0].captured == (steps{2, 4}),
             boost::test_tools::per_element());
  BOOST_TEST(published(into[2]) == 0u);
  BOOST_TEST(ran[0].rows[1].captured == steps{6},
             boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(a_crash_leaves_what_was_kept_by_then, keeping) {
  auto x = job(1, 20);
  const auto into = keep(x, {2, 5});
  sut->open(x);
  sut->run({{x.ticket}, 20});
  timers->advance(3ms + 45ms);
  sut->crash();
  BOOST_TEST(published(into[0]) == 1u);
  BOOST_TEST(published(into[1]) == 0u);
  BOOST_TEST(published(x.state) == 5u);
}

BOOST_FIXTURE_TEST_CASE(a_capture_that_fails_fails_no_row, keeping) {
  auto x = job(1, 20);
  auto into = keep(x, {2, 5});
  ++into[0].generation;
  slots->open(into[0]);
  draw(x);
  BOOST_TEST(ran[0].rows[0].captured == steps{5},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
