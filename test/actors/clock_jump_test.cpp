// SPDX-License-Identifier: Apache-2.0

// The clock jumps while the real actors work, as it does for a process that was
// stopped. Every event that was due in between happens late.

#include "actors/requests_rig.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"

#include <set>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;

size_t requests() {
  return 20 + test::scaled(500);
}

} // namespace

BOOST_AUTO_TEST_SUITE(clock_jump_test)

BOOST_AUTO_TEST_CASE(an_hour_forward_costs_no_process) {
  const auto count = requests();
  const auto calm = test::calm_images(count);
  core::philox random{test::seed(), core::purpose::test};
  test::requests_rig rig;
  uint64_t jumps = 0;
  std::vector<core::request_id> all;
  while (all.size() < count) {
    for (int i = 0; i < 5 && all.size() < count; ++i)
      all.push_back(rig.submit());
    rig.pass(core::timespan{random.below(150'000'000)});
    rig.jump(1h);
    ++jumps;
    rig.settle();
    BOOST_TEST(rig.workers_lost() == 0u);
  }
  rig.pass(60s);
  BOOST_TEST(rig.workers_lost() == 0u);
  for (const auto id : all) {
    BOOST_TEST((rig.code_of(id) == ec::none), core::to_string(rig.code_of(id)));
    BOOST_TEST((rig.image_of(id) == calm.at(id)), "request " << id.value);
  }
  rig.expect_rest();
  BOOST_TEST_MESSAGE(jumps << " jumps");
}

BOOST_AUTO_TEST_CASE(deadlines_are_those_of_the_clock_that_jumped) {
  core::philox random{test::seed(), core::purpose::test};
  test::requests_rig rig;
  size_t missed = 0;
  for (size_t n = 0; n < requests(); n += 6) {
    std::vector<core::request_id> soon;
    std::vector<core::request_id> late;
    for (int i = 0; i < 3; ++i) {
      soon.push_back(rig.submit(30s));
      late.push_back(rig.submit(5h));
    }
    rig.pass(core::timespan{random.below(80'000'000)});
    std::set<core::request_id> done;
    for (const auto id : soon)
      if (rig.answered(id))
        done.insert(id);
    rig.jump(1h);
    rig.settle();
    for (const auto id : soon) {
      const auto wanted = done.contains(id) ? ec::none : ec::deadline_missed;
      BOOST_TEST((rig.code_of(id) == wanted), core::to_string(rig.code_of(id)));
      missed += done.contains(id) ? 0u : 1u;
    }
    for (const auto id : late)
      BOOST_TEST((rig.code_of(id) == ec::none),
                 core::to_string(rig.code_of(id)));
  }
  BOOST_TEST(missed > 0u);
  rig.expect_rest();
}

BOOST_AUTO_TEST_CASE(a_clock_set_back_kills_nobody_and_loses_nothing) {
  const auto count = requests();
  const auto calm = test::calm_images(count);
  core::philox random{test::seed(), core::purpose::test};
  test::requests_rig rig;
  std::vector<core::request_id> all;
  while (all.size() < count) {
    for (int i = 0; i < 5 && all.size() < count; ++i)
      // After the clock was set back, a deadline is further away.
      all.push_back(rig.submit(i % 2 == 0 ? 30s : 0s));
    rig.pass(core::timespan{random.below(150'000'000)});
    rig.jump(-1h);
    // Delayed events happen when the clock reaches their time again.
    rig.pass(1h);
    rig.settle();
  }
  BOOST_TEST(rig.workers_lost() == 0u);
  for (const auto id : all) {
    BOOST_TEST((rig.code_of(id) == ec::none), core::to_string(rig.code_of(id)));
    BOOST_TEST((rig.image_of(id) == calm.at(id)), "request " << id.value);
  }
  rig.expect_rest();
}

BOOST_AUTO_TEST_CASE(back_to_the_clocks_first_year_nothing_is_lost) {
  test::requests_rig rig;
  // A steady clock begins when the machine starts, and its range is centuries.
  rig.jump(24h * 365 * 100);
  rig.settle();
  std::vector<core::request_id> all;
  for (int i = 0; i < 10; ++i)
    all.push_back(rig.submit());
  rig.pass(40ms);
  const auto back = 24h * 365 * 99;
  rig.jump(-back);
  rig.jump(back);
  rig.settle();
  for (const auto id : all)
    BOOST_TEST((rig.code_of(id) == ec::none), core::to_string(rig.code_of(id)));
  rig.expect_rest();
}

BOOST_AUTO_TEST_SUITE_END()
