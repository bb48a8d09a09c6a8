// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/solver/linear_program.hpp>
#include <atelier/planning/solver/transport.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>

using namespace atelier;
using namespace atelier::planning;

namespace {

double cost_of(const table& flow, const table& costs) {
  double sum = 0;
  for (size_t i = 0; i < flow.cells.size(); ++i)
    if (flow.cells[i] != 0)
      sum += flow.cells[i] * costs.cells[i];
  return sum;
}

double by_programme(const std::vector<double>& supply,
                    const std::vector<double>& need, const table& costs) {
  linear_program p;
  p.maximise = false;
  for (size_t i = 0; i < supply.size(); ++i)
    p.add(lp_row{"from", {}, lp_relation::equal, supply[i]});
  for (size_t j = 0; j < need.size(); ++j)
    p.add(lp_row{"to", {}, lp_relation::equal, need[j]});
  for (size_t i = 0; i < supply.size(); ++i)
    for (size_t j = 0; j < need.size(); ++j) {
      const auto c = p.add(lp_column{"c", costs.at(i, j)});
      p.rows[i].terms.push_back({c, 1});
      p.rows[supply.size() + j].terms.push_back({c, 1});
    }
  // The sums agree by construction, so that one row is redundant.
  p.rows.pop_back();
  const auto found = solve(p);
  return found && found->has_values() ? found->objective : NAN;
}

} // namespace

BOOST_AUTO_TEST_SUITE(transport_test)

BOOST_AUTO_TEST_CASE(nothing_moves_where_nothing_is) {
  BOOST_TEST(transport({}, {}, {}).empty());
  const std::vector<int64_t> none{0, 0};
  const std::vector<int64_t> some{3};
  const auto flow = transport(none, some, table{2, 1, 1.0});
  BOOST_TEST(flow[0][0] == 0);
  BOOST_TEST(flow[1][0] == 0);
}

BOOST_AUTO_TEST_CASE(forbidden_pairs_stay_empty) {
  table costs{2, 2, 1.0};
  costs.at(0, 0) = std::numeric_limits<double>::infinity();
  costs.at(1, 0) = std::numeric_limits<double>::infinity();
  const std::vector<int64_t> supply{2, 2};
  const std::vector<int64_t> need{2, 1};
  const auto flow = transport(supply, need, costs);
  BOOST_TEST(flow[0][0] + flow[1][0] == 0);
  BOOST_TEST(flow[0][1] + flow[1][1] == 1);
}

BOOST_AUTO_TEST_CASE(costs_may_be_negative) {
  table costs{2, 2};
  costs.cells = {-5, -1, -4, 3};
  const std::vector<int64_t> one{1, 1};
  const auto flow = transport(one, one, costs);
  BOOST_TEST(flow[0][1] == 1);
  BOOST_TEST(flow[1][0] == 1);
}

BOOST_AUTO_TEST_CASE(shares_equal_the_linear_programme) {
  for (size_t n = 0; n < test::scaled(20'000); ++n) {
    auto random = test::random_of(n);
    const size_t rows = 1 + random.below(5);
    const size_t columns = 1 + random.below(5);
    std::vector<double> supply(rows);
    std::vector<double> need(columns);
    for (double& x : supply)
      x = random.below(4) == 0 ? 0 : random.uniform();
    for (double& x : need)
      x = random.below(4) == 0 ? 0 : random.uniform();
    supply[0] += 0.1;
    need[0] += 0.1;
    const double have = std::accumulate(supply.begin(), supply.end(), 0.0);
    const double want = std::accumulate(need.begin(), need.end(), 0.0);
    for (double& x : need)
      x *= have / want;
    table costs{rows, columns};
    for (double& x : costs.cells)
      x = std::floor(random.uniform() * 20) / 4 - 1;
    const table flow = transport_shares(supply, need, costs);
    for (size_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (size_t j = 0; j < columns; ++j) {
        BOOST_REQUIRE(flow.at(i, j) >= 0);
        sum += flow.at(i, j);
      }
      BOOST_REQUIRE_SMALL(sum - supply[i], 1e-12 * have);
    }
    for (size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (size_t i = 0; i < rows; ++i)
        sum += flow.at(i, j);
      BOOST_REQUIRE_SMALL(sum - need[j], 1e-12 * have);
    }
    const double best = by_programme(supply, need, costs);
    BOOST_REQUIRE_MESSAGE(std::abs(cost_of(flow, costs) - best) < 1e-7,
                          "instance " << n << ": " << cost_of(flow, costs)
                                      << " instead of " << best);
  }
}

BOOST_AUTO_TEST_SUITE_END()
