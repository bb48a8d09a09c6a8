// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "planning/solver/whole_programs.hpp"
#include "support/scale.hpp"
#include <atelier/planning/solver/branching.hpp>
#include <atelier/planning/solver/detail/lp_library.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace atelier;
using namespace atelier::planning;

BOOST_AUTO_TEST_SUITE(branching_test)

BOOST_AUTO_TEST_CASE(the_search_equals_counting_out) {
  const std::scoped_lock lock{detail::lp_library_lock()};
  size_t solvable = 0;
  for (size_t i = 0; i < test::scaled(20'000); ++i) {
    auto random = test::random_of(i);
    const auto p = test::random_program(random);
    if (p.rows.empty())
      continue;
    const auto best = test::counted_out(p);
    const auto found = search_whole(p, {}, {});
    BOOST_REQUIRE_MESSAGE(found.complete, "instance " << i);
    BOOST_REQUIRE_MESSAGE(best.has_value() == found.better.has_value(),
                          "instance " << i);
    if (!best)
      continue;
    ++solvable;
    BOOST_REQUIRE_MESSAGE(std::abs(found.better->objective - *best) < 1e-6,
                          "instance " << i << ": " << found.better->objective
                                      << " instead of " << *best);
    // Nothing is better than the best solution.
    const auto none = search_whole(p, *best, {});
    BOOST_REQUIRE_MESSAGE(none.complete && !none.better, "instance " << i);
  }
  BOOST_TEST(solvable > 0u);
}

BOOST_AUTO_TEST_CASE(a_limit_ends_the_search) {
  const std::scoped_lock lock{detail::lp_library_lock()};
  linear_program p;
  lp_row sum{"sum", {}, lp_relation::equal, 12.5};
  for (int i = 0; i < 12; ++i)
    sum.terms.push_back({p.add(lp_column{"c", 1, 0, 3, true}), 1});
  p.add(std::move(sum));
  lp_limits limits;
  limits.effort = 100;
  const auto found = search_whole(p, {}, limits);
  BOOST_TEST(!found.complete);
  BOOST_TEST(!found.better);
  BOOST_TEST(found.effort >= 100u);
  BOOST_TEST(found.effort < 1'000u);
}

// lp_solve's own search ends at (-1, -1) with the value 1.
BOOST_AUTO_TEST_CASE(a_corner_that_lp_solve_loses_is_found) {
  linear_program p;
  const auto x = p.add(lp_column{"x", 4, -2, -1, true});
  const auto y = p.add(lp_column{"y", -5, -2, -1, true});
  p.add(lp_row{"a", {{x, -2}, {y, 4}}, lp_relation::at_least, -4});
  p.add(lp_row{"b", {{x, 3}, {y, 1}}, lp_relation::at_least, -8});
  const auto found = solve(p);
  BOOST_REQUIRE(static_cast<bool>(found));
  BOOST_TEST((found->status == lp_status::optimal));
  BOOST_TEST((found->values == std::vector<double>{-2, -2}));
  BOOST_TEST(found->objective == 2.0);
  BOOST_TEST(found->duals.size() == 2u);
  BOOST_TEST(found->reduced.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
