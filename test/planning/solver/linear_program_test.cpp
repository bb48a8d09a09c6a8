// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "planning/solver/whole_programs.hpp"
#include "support/scale.hpp"
#include <atelier/planning/solver/linear_program.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <thread>

using namespace atelier;
using namespace atelier::planning;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// max 3x + 2y; x + y <= 4; x + 3y <= 6; x <= 3: (3, 1), 11.
linear_program small() {
  linear_program p;
  const auto x = p.add(lp_column{"x", 3, 0, 3, false});
  const auto y = p.add(lp_column{"y", 2});
  p.add(lp_row{"sum", {{x, 1}, {y, 1}}, lp_relation::at_most, 4});
  p.add(lp_row{"mix", {{x, 1}, {y, 3}}, lp_relation::at_most, 6});
  return p;
}

} // namespace

BOOST_AUTO_TEST_SUITE(linear_program_test)

BOOST_AUTO_TEST_CASE(a_small_programme_has_its_optimum_duals_and_basis) {
  const auto p = small();
  const auto found = solve(p);
  BOOST_REQUIRE(static_cast<bool>(found));
  BOOST_TEST((found->status == lp_status::optimal));
  BOOST_TEST(found->objective == 11.0, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(found->values[0] == 3.0, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(found->values[1] == 1.0, boost::test_tools::tolerance(1e-9));
  // Both rows meet at the optimum, so either of the degenerate duals is
  // correct.
  BOOST_REQUIRE(found->duals.size() == 2u);
  BOOST_TEST(found->basis.rows.size() == 2u);
  BOOST_TEST(found->basis.columns.size() == 2u);
}

BOOST_AUTO_TEST_CASE(every_outcome_has_its_status) {
  linear_program p;
  const auto x = p.add(lp_column{"x", 1});
  BOOST_TEST((solve(p)->status == lp_status::unbounded));
  p.add(lp_row{"low", {{x, 1}}, lp_relation::at_least, 3});
  p.maximise = false;
  BOOST_TEST(solve(p)->values[0] == 3.0, boost::test_tools::tolerance(1e-9));
  p.add(lp_row{"high", {{x, 1}}, lp_relation::at_most, 2});
  BOOST_TEST((solve(p)->status == lp_status::infeasible));
  BOOST_TEST((solve(linear_program{})->status == lp_status::optimal));
}

BOOST_AUTO_TEST_CASE(what_is_no_programme_is_refused_with_its_name) {
  const auto refused = [](auto change) {
    auto p = small();
    change(p);
    const auto r = solve(p);
    return !r && r.why().code == core::ec::invalid_argument ? r.why().text : "";
  };
  BOOST_TEST(refused([](auto& p) { p.columns[0].gain = no_number; }).find("'x'")
             != std::string::npos);
  BOOST_TEST(
    refused([](auto& p) { p.columns[1].least = no_number; }).find("'y'")
    != std::string::npos);
  BOOST_TEST(refused([](auto& p) { p.columns[1].most = -1; }).find("0..-1")
             != std::string::npos);
  BOOST_TEST(
    refused([](auto& p) { p.rows[0].bound = lp_infinity; }).find("'sum'")
    != std::string::npos);
  BOOST_TEST(refused([](auto& p) {
               p.rows[1].terms[0].factor = lp_infinity;
             }).find("'mix'")
             != std::string::npos);
  BOOST_TEST(refused([](auto& p) {
               p.rows[1].terms[0].column = lp_column_id{2};
             }).find("column 2 of")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(whole_programmes_equal_counting_out) {
  const size_t loops = test::scaled(20'000);
  size_t solvable = 0;
  for (size_t i = 0; i < loops; ++i) {
    auto random = test::random_of(i);
    const auto p = test::random_program(random);
    const auto best = test::counted_out(p);
    const auto found = solve(p);
    BOOST_REQUIRE_MESSAGE(static_cast<bool>(found), "instance " << i);
    BOOST_REQUIRE_MESSAGE(best.has_value() == found->has_values(),
                          "instance " << i << ": " << to_string(found->status));
    if (!best)
      continue;
    ++solvable;
    BOOST_REQUIRE_MESSAGE(std::abs(found->objective - *best) < 1e-6,
                          "instance " << i << ": " << found->objective
                                      << " instead of " << *best);
    BOOST_REQUIRE_MESSAGE(worst_violation(p, found->values) < 1e-6,
                          "instance " << i);
  }
  BOOST_TEST(solvable > loops / 4);
}

BOOST_AUTO_TEST_CASE(duals_are_the_gain_of_one_unit_more) {
  size_t checked = 0;
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    auto p = test::random_program(random);
    for (lp_column& c : p.columns) {
      c.whole = false;
      c.gain += random.uniform();
    }
    for (lp_row& r : p.rows) {
      r.is =
        random.below(2) == 0 ? lp_relation::at_most : lp_relation::at_least;
      r.bound += random.uniform();
    }
    const auto found = solve(p);
    BOOST_REQUIRE(static_cast<bool>(found));
    if (!found->has_values())
      continue;
    constexpr double step = 1e-5;
    for (size_t r = 0; r < p.rows.size(); ++r) {
      auto more = p;
      more.rows[r].bound += step;
      auto less = p;
      less.rows[r].bound -= step;
      const auto above = solve(more);
      const auto below = solve(less);
      if (!above->has_values() || !below->has_values())
        continue;
      const double up = (above->objective - found->objective) / step;
      const double down = (found->objective - below->objective) / step;
      // At a kink every value between both slopes is a valid dual.
      const double low = std::min(up, down) - 1e-3;
      const double high = std::max(up, down) + 1e-3;
      BOOST_REQUIRE_MESSAGE(found->duals[r] >= low && found->duals[r] <= high,
                            "instance " << i << " row " << r << ": "
                                        << found->duals[r] << " not in " << low
                                        << ".." << high);
      ++checked;
    }
  }
  BOOST_TEST(checked > 0u);
}

BOOST_AUTO_TEST_CASE(a_basis_starts_a_larger_programme_where_it_ended) {
  size_t cold = 0;
  size_t warm = 0;
  for (size_t i = 0; i < test::scaled(1'000); ++i) {
    auto random = test::random_of(i);
    linear_program p;
    for (size_t c = 0; c < 60; ++c)
      p.add(lp_column{"c", random.uniform(), 0, 1 + random.uniform(), false});
    for (size_t r = 0; r < 30; ++r) {
      lp_row row{"r", {}, lp_relation::at_most, 3 + random.uniform()};
      for (uint32_t c = 0; c < 60; ++c)
        row.terms.push_back({lp_column_id{c}, random.uniform()});
      p.add(std::move(row));
    }
    const auto first = solve(p);
    BOOST_REQUIRE(first && first->has_values());
    for (size_t c = 0; c < 3; ++c) {
      const auto id = p.add(lp_column{"new", random.uniform()});
      for (lp_row& row : p.rows)
        row.terms.push_back({id, random.uniform()});
    }
    const auto again = solve(p);
    const auto from = solve(p, {}, &first->basis);
    BOOST_REQUIRE(again && from);
    BOOST_TEST(from->objective == again->objective,
               boost::test_tools::tolerance(1e-7));
    BOOST_TEST(from->objective >= first->objective - 1e-9);
    cold += again->effort;
    warm += from->effort;
  }
  BOOST_TEST_MESSAGE("calls cold " << cold << ", warm " << warm);
  BOOST_TEST(warm * 2 < cold);
}

BOOST_AUTO_TEST_CASE(columns_without_rows_go_to_their_better_bound) {
  linear_program p;
  p.add(lp_column{"up", 1, -2, 5.5, true});
  p.add(lp_column{"down", -1, -1.5, 5, false});
  p.add(lp_column{"any", 0, -lp_infinity, 3, false});
  const auto found = solve(p);
  BOOST_REQUIRE(found && found->has_values());
  BOOST_TEST(found->objective == 6.5);
  BOOST_TEST((found->values == std::vector<double>{5, -1.5, 3}));
  p.maximise = false;
  BOOST_TEST(solve(p)->objective == -7.0);
  p.columns[0].most = -1.5;
  p.columns[0].least = -1.9;
  BOOST_TEST((solve(p)->status == lp_status::infeasible));
}

BOOST_AUTO_TEST_CASE(any_basis_leads_to_the_same_optimum) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    auto p = test::random_program(random);
    for (lp_column& c : p.columns)
      c.whole = c.whole && random.below(2) == 0;
    if (!p.columns.empty() && random.below(3) == 0)
      p.columns[0].most = lp_infinity;
    const auto cold = solve(p);
    BOOST_REQUIRE(static_cast<bool>(cold));
    lp_basis start;
    start.rows.assign(p.rows.size(), lp_place::at_low);
    start.columns.assign(p.columns.size(), lp_place::at_low);
    for (auto* part : {&start.rows, &start.columns})
      for (lp_place& x : *part)
        if (random.below(2) == 0)
          x = lp_place::at_high;
    for (size_t basic = 0; basic < p.rows.size();) {
      const size_t at = random.below(p.rows.size() + p.columns.size());
      lp_place& x =
        at < p.rows.size() ? start.rows[at] : start.columns[at - p.rows.size()];
      if (x == lp_place::basic)
        continue;
      x = lp_place::basic;
      ++basic;
    }
    const auto warm = solve(p, {}, &start);
    BOOST_REQUIRE_MESSAGE(static_cast<bool>(warm), "instance " << i);
    BOOST_REQUIRE_MESSAGE(warm->status == cold->status,
                          "instance " << i << ": " << to_string(cold->status)
                                      << ", from a basis "
                                      << to_string(warm->status));
    if (cold->has_values())
      BOOST_REQUIRE_MESSAGE(std::abs(cold->objective - warm->objective) < 1e-6,
                            "instance " << i << ": " << cold->objective
                                        << ", from a basis "
                                        << warm->objective);
  }
}

BOOST_AUTO_TEST_CASE(a_basis_of_another_programme_does_no_harm) {
  const auto p = small();
  lp_basis wrong;
  wrong.rows = {lp_place::basic};
  BOOST_TEST(solve(p, {}, &wrong)->objective == 11.0,
             boost::test_tools::tolerance(1e-9));
  wrong.rows = {lp_place::basic, lp_place::basic};
  wrong.columns = {lp_place::basic};
  BOOST_TEST(solve(p, {}, &wrong)->objective == 11.0,
             boost::test_tools::tolerance(1e-9));
  wrong.columns = {lp_place::at_high, lp_place::at_high};
  BOOST_TEST(solve(p, {}, &wrong)->objective == 11.0,
             boost::test_tools::tolerance(1e-9));
}

// Returns a problem with one worker for each of many variants, which is slow
// for branch and bound.
linear_program knapsack(core::philox& random, size_t columns) {
  linear_program p;
  lp_row weight{"weight", {}, lp_relation::equal, 0};
  double sum = 0;
  for (size_t c = 0; c < columns; ++c) {
    const auto id = p.add(lp_column{"c", 1 + random.uniform(), 0, 1, true});
    const double w = 1000 + std::floor(random.uniform() * 1000);
    weight.terms.push_back({id, w});
    sum += w;
  }
  weight.bound = std::floor(sum / 2);
  p.add(std::move(weight));
  return p;
}

BOOST_AUTO_TEST_CASE(limits_end_a_solve_at_the_same_point_each_time) {
  auto random = test::random_of(7);
  const auto p = knapsack(random, 40);
  lp_limits limits;
  limits.effort = 500;
  const auto first = solve(p, limits);
  BOOST_REQUIRE(static_cast<bool>(first));
  BOOST_TEST((first->status == lp_status::stopped
              || first->status == lp_status::feasible));
  BOOST_TEST(first->effort <= 600u);
  const auto second = solve(p, limits);
  BOOST_TEST((first->status == second->status));
  BOOST_TEST(first->effort == second->effort);
  BOOST_TEST((first->values == second->values));
  uint64_t asked = 0;
  lp_limits by_stop;
  by_stop.stop = [&] { return ++asked > 100; };
  const auto stopped = solve(p, by_stop);
  BOOST_REQUIRE(static_cast<bool>(stopped));
  BOOST_TEST((stopped->status != lp_status::optimal));
  BOOST_TEST(asked == 101u);
}

BOOST_AUTO_TEST_CASE(threads_solve_at_once_and_do_not_disturb_each_other) {
  constexpr size_t threads = 4;
  const size_t loops = test::scaled(1'000);
  std::vector<linear_program> all;
  std::vector<double> expected;
  for (size_t i = 0; i < 16; ++i) {
    auto random = test::random_of(i);
    all.push_back(knapsack(random, 12));
    const auto found = solve(all.back());
    expected.push_back(found->has_values() ? found->objective : -1);
  }
  std::vector<size_t> wrong(threads, 0);
  {
    std::vector<std::jthread> running;
    for (size_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        for (size_t i = 0; i < loops; ++i) {
          const size_t at = (i * 7 + t) % all.size();
          const auto found = solve(all[at]);
          const double value =
            found && found->has_values() ? found->objective : -1;
          wrong[t] += std::abs(value - expected[at]) > 1e-9 ? 1u : 0u;
        }
      });
  }
  for (const size_t w : wrong)
    BOOST_TEST(w == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
