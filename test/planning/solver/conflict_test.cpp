// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/solver/conflict.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace atelier;
using namespace atelier::planning;

namespace {

bool solvable(const linear_program& p, const std::vector<lp_row_id>& rows,
              std::optional<size_t> without = {}) {
  linear_program part;
  part.columns = p.columns;
  for (size_t i = 0; i < rows.size(); ++i)
    if (i != without)
      part.rows.push_back(p.rows[rows[i].value]);
  return solve(part)->has_values();
}

} // namespace

BOOST_AUTO_TEST_SUITE(conflict_test)

BOOST_AUTO_TEST_CASE(the_constraints_that_contradict_are_named) {
  linear_program p;
  const auto n = p.add(lp_column{"workers", 1, 0, 8, true});
  const auto f = p.add(lp_column{"load"});
  p.add(lp_row{"harmless", {{f, 1}}, lp_relation::at_most, 1000});
  p.add(lp_row{"demand", {{f, 1}}, lp_relation::equal, 100});
  p.add(lp_row{"capacity", {{f, 1}, {n, -10}}, lp_relation::at_most, 0});
  const auto why = explain_infeasible(p);
  BOOST_REQUIRE(static_cast<bool>(why));
  BOOST_REQUIRE(why->rows.size() == 2u);
  BOOST_TEST(why->rows[0].value == 1u);
  BOOST_TEST(why->rows[1].value == 2u);
  BOOST_TEST(why->shortfall == 20.0, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(to_text(p, *why)
             == "'demand', 'capacity' cannot hold together; 20 is missing at "
                "least");
}

BOOST_AUTO_TEST_CASE(a_solvable_programme_has_no_conflict) {
  linear_program p;
  const auto x = p.add(lp_column{"x", 1, 0, 1, false});
  p.add(lp_row{"r", {{x, 1}}, lp_relation::at_most, 1});
  const auto why = explain_infeasible(p);
  BOOST_REQUIRE(static_cast<bool>(why));
  BOOST_TEST(why->rows.empty());
  BOOST_TEST(to_text(p, *why) == "nothing contradicts");
}

BOOST_AUTO_TEST_CASE(one_row_against_the_bounds_is_a_conflict) {
  linear_program p;
  const auto x = p.add(lp_column{"x", 1, 0, 1, false});
  p.add(lp_row{"r", {{x, 1}}, lp_relation::at_least, 3});
  const auto why = explain_infeasible(p);
  BOOST_REQUIRE(why && why->rows.size() == 1u);
  BOOST_TEST(to_text(p, *why) == "'r' cannot hold; 2 is missing at least");
}

BOOST_AUTO_TEST_CASE(errors_and_limits_are_told) {
  linear_program p;
  const auto x = p.add(lp_column{"x", 1, 0, 1, true});
  p.add(lp_row{"r", {{x, lp_infinity}}, lp_relation::at_least, 3});
  BOOST_TEST((explain_infeasible(p).why().code == core::ec::invalid_argument));
  p.rows[0].terms[0].factor = 1;
  lp_limits none;
  none.stop = [] { return true; };
  BOOST_TEST((explain_infeasible(p, none).why().code == core::ec::unavailable));
}

BOOST_AUTO_TEST_CASE(conflicts_are_real_and_every_member_is_needed) {
  size_t found = 0;
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    linear_program p;
    for (size_t c = 0; c < 4; ++c)
      p.add(
        lp_column{"c", 0, 0, 1 + random.uniform() * 3, random.below(2) == 0});
    for (size_t r = 0; r < 6; ++r) {
      lp_row row{"r",
                 {},
                 static_cast<lp_relation>(random.below(3)),
                 random.uniform() * 8 - 3};
      for (uint32_t c = 0; c < 4; ++c)
        row.terms.push_back({lp_column_id{c}, random.uniform() * 4 - 2});
      p.add(std::move(row));
    }
    const auto first = solve(p);
    BOOST_REQUIRE(static_cast<bool>(first));
    const auto why = explain_infeasible(p);
    BOOST_REQUIRE_MESSAGE(static_cast<bool>(why), "instance " << i);
    BOOST_REQUIRE_MESSAGE(why->rows.empty() == first->has_values(),
                          "instance " << i);
    if (why->rows.empty())
      continue;
    ++found;
    BOOST_REQUIRE(why->shortfall > 0);
    BOOST_REQUIRE_MESSAGE(!solvable(p, why->rows), "instance " << i);
    for (size_t r = 0; r < why->rows.size(); ++r)
      BOOST_REQUIRE_MESSAGE(solvable(p, why->rows, r), "instance " << i);
  }
  BOOST_TEST(found > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
