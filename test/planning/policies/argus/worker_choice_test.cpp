// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/argus/worker_choice.hpp>

#include <boost/test/unit_test.hpp>

#include <vector>

using namespace atelier;
using namespace atelier::planning::argus;

BOOST_AUTO_TEST_SUITE(argus_worker_choice_test)

BOOST_AUTO_TEST_CASE(nobody_is_chosen_of_none) {
  BOOST_TEST(!choose_worker({}, 0, wait_rule::with_own).has_value());
}

BOOST_AUTO_TEST_CASE(the_least_wait_of_the_level_wins) {
  const std::vector<candidate> all{
    {1, 3, 2.0, 0}, {1, 2, 2.0, 0}, {0, 0, 1.0, 0}};
  BOOST_TEST(*choose_worker(all, 1, wait_rule::queue_only) == 1u);
}

BOOST_AUTO_TEST_CASE(idle_workers_of_two_speeds_differ_by_their_own_time) {
  const std::vector<candidate> idle{{0, 0, 4.0, 1}, {0, 0, 2.0, 2}};
  // The paper's rule sees two zeros, and takes the worker that was not chosen
  // for longest.
  BOOST_TEST(*choose_worker(idle, 0, wait_rule::queue_only) == 0u);
  BOOST_TEST(*choose_worker(idle, 0, wait_rule::with_own) == 1u);
}

BOOST_AUTO_TEST_CASE(ties_go_to_the_one_chosen_longest_ago) {
  const std::vector<candidate> all{
    {0, 1, 2.0, 9}, {0, 1, 2.0, 4}, {0, 1, 2.0, 4}};
  BOOST_TEST(*choose_worker(all, 0, wait_rule::with_own) == 1u);
}

BOOST_AUTO_TEST_CASE(without_the_level_the_nearest_slower_one_serves) {
  const std::vector<candidate> all{
    {0, 0, 4.0, 0}, {1, 9, 3.0, 0}, {4, 0, 1.0, 0}, {3, 0, 2.0, 0}};
  BOOST_TEST(*choose_worker(all, 2, wait_rule::with_own) == 1u);
  const std::vector<candidate> fast{{4, 0, 1.0, 0}, {3, 0, 2.0, 0}};
  BOOST_TEST(*choose_worker(fast, 2, wait_rule::with_own) == 1u);
}

BOOST_AUTO_TEST_CASE(the_choice_equals_looking_at_all_of_the_level) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    std::vector<candidate> all(1 + random.below(12));
    for (candidate& c : all)
      c = {static_cast<uint32_t>(random.below(4)), random.below(5),
           0.5 + random.uniform(), random.below(3)};
    const auto level = static_cast<uint32_t>(random.below(4));
    const auto got = *choose_worker(all, level, wait_rule::with_own);
    const auto wait = [&](const candidate& c) {
      return (static_cast<double>(c.requests) + 1) * c.seconds;
    };
    for (const candidate& c : all) {
      if (c.level == level)
        BOOST_REQUIRE(all[got].level == level);
      if (c.level == all[got].level)
        BOOST_REQUIRE(wait(c) >= wait(all[got]));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
