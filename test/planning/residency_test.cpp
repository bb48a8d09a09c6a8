// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/residency.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

using namespace atelier;
using planning::leaving_for;
using planning::resident_model;
using indices = std::vector<size_t>;

BOOST_AUTO_TEST_SUITE(residency)

BOOST_AUTO_TEST_CASE(the_least_recently_used_leave_and_no_more_than_it_takes) {
  const std::vector<resident_model> there{
    {40, 7, false}, {30, 3, false}, {20, 5, false}};
  BOOST_TEST((leaving_for(there, 10, 100) == indices{}));
  BOOST_TEST((leaving_for(there, 11, 100) == indices{1}));
  BOOST_TEST((leaving_for(there, 41, 100) == indices{1, 2}));
  BOOST_TEST((leaving_for(there, 100, 100) == indices{1, 2, 0}));
  BOOST_TEST(!leaving_for(there, 101, 100));
}

BOOST_AUTO_TEST_CASE(what_stays_is_passed_over) {
  const std::vector<resident_model> there{{40, 1, true}, {30, 3, false}};
  BOOST_TEST((leaving_for(there, 60, 100) == indices{1}));
  BOOST_TEST(!leaving_for(there, 61, 100));
}

BOOST_AUTO_TEST_CASE(without_a_bound_all_fit) {
  const std::vector<resident_model> there{{UINT64_MAX / 2, 1, true}};
  BOOST_TEST((leaving_for(there, UINT64_MAX / 2, 0) == indices{}));
  BOOST_TEST((leaving_for({}, 5, 5) == indices{}));
  BOOST_TEST(!leaving_for({}, 6, 5));
}

BOOST_AUTO_TEST_CASE(random_shelves_fit_whenever_they_can) {
  for (uint64_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    std::vector<resident_model> there(random.below(7));
    uint64_t all = 0;
    uint64_t staying = 0;
    for (auto& x : there) {
      x = {random.below(50), random.below(9), random.below(3) == 0};
      all += x.bytes;
      staying += x.stays ? x.bytes : 0;
    }
    const uint64_t more = random.below(60);
    const uint64_t most = 1 + random.below(250);
    const auto found = leaving_for(there, more, most);
    BOOST_TEST(found.has_value() == (staying + more <= most),
               "seed " << test::seed() << ", shelf " << i);
    if (!found)
      continue;
    uint64_t left = all;
    for (const auto at : *found) {
      BOOST_TEST(!there[at].stays);
      BOOST_TEST(left + more > most);
      left -= there[at].bytes;
      for (size_t k = 0; k < there.size(); ++k)
        if (!there[k].stays && there[k].last_used < there[at].last_used)
          BOOST_TEST(
            (std::find(found->begin(), found->end(), k) != found->end()));
    }
    BOOST_TEST(left + more <= most);
  }
}

BOOST_AUTO_TEST_SUITE_END()
