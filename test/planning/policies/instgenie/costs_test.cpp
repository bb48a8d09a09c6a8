// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/policies/instgenie/costs.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning::instgenie;

namespace {

// Counts the operations of a block row by row; each multiplication counts
// twice.
double counted(const block_shape& of, double rows, double key_rows) {
  const double h = of.width;
  const double l = of.tokens;
  double n = 0;
  n += rows * h * h;         // queries
  n += 2 * key_rows * h * h; // keys, values
  n += rows * l * h;         // scores
  n += rows * l * h;         // their mix of values
  n += rows * h * h;         // output projection
  n += rows * h * 4 * h;     // feed-forward, up
  n += rows * 4 * h * h;     // and down
  return 2 * n;
}

} // namespace

BOOST_AUTO_TEST_SUITE(instgenie_costs_test)

BOOST_AUTO_TEST_CASE(operations_are_those_counted) {
  const block_shape b{1024, 640, 2};
  const auto near = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(full_operations(b) == counted(b, 1024, 1024), near);
  for (const double m : {0.0, 0.1, 0.5, 1.0}) {
    BOOST_TEST(masked_operations(b, m, recorded::outputs)
                 == counted(b, m * 1024, 1024),
               near);
    BOOST_TEST(masked_operations(b, m, recorded::keys_values)
                 == m * full_operations(b),
               near);
  }
  BOOST_TEST(masked_operations(b, 2, recorded::outputs) == full_operations(b),
             near);
}

BOOST_AUTO_TEST_CASE(bytes_are_those_of_the_rows_that_are_not_masked) {
  const block_shape b{1000, 100, 2};
  BOOST_TEST(loaded_bytes(b, 0.25, recorded::outputs) == 150'000.0);
  BOOST_TEST(loaded_bytes(b, 0.25, recorded::keys_values) == 300'000.0);
  BOOST_TEST(loaded_bytes(b, 1, recorded::outputs) == 0.0);
}

BOOST_AUTO_TEST_CASE(batches_sum_their_members) {
  const std::vector<block_shape> blocks{{1000, 100, 2}};
  const estimator by{{1e-9, 0.5, 1}, {1e-6, 0.1, 1}};
  const std::vector<batch_member> two{{0.25, false}, {0.5, false}};
  const auto c = batch_costs(blocks, two, by, recorded::outputs)[0];
  const auto near = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(c.full == 0.5 + 2e-9 * full_operations(blocks[0]), near);
  BOOST_TEST(
    c.cached
      == 0.5
           + 1e-9
               * (masked_operations(blocks[0], 0.25, recorded::outputs)
                  + masked_operations(blocks[0], 0.5, recorded::outputs)),
    near);
  BOOST_TEST(c.load == 0.1 + 1e-6 * 250'000, near);
}

BOOST_AUTO_TEST_CASE(whole_masks_and_missing_records_run_in_full) {
  const std::vector<block_shape> blocks{{1000, 100, 2}};
  const estimator by{{1e-9, 0, 1}, {1e-6, 0.1, 1}};
  const std::vector<batch_member> none{{1, false}, {0.2, true}};
  const auto c = batch_costs(blocks, none, by, recorded::outputs)[0];
  BOOST_TEST(c.cached == c.full);
  BOOST_TEST(c.load == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
