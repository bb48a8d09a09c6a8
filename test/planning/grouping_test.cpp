// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/grouping.hpp>

#include <boost/test/unit_test.hpp>

#include <vector>

namespace {

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;

waiting row(uint32_t queue, core::timespan deadline, core::timespan needs) {
  waiting x;
  x.queue = core::queue_id{queue};
  x.deadline = core::time_point{deadline};
  x.still_needs = needs;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(grouping_test)

BOOST_AUTO_TEST_CASE(variants_of_a_model_have_the_same_weights) {
  // base@50, base@20 and turbo@1, then base@8 in half precision and again in
  // full precision.
  auto known = test::three_variants();
  known.variants.push_back(known.variants[0]);
  known.variants.back().precision = core::dtype::float16;
  known.variants.push_back(known.variants[0]);
  const auto sut = weights_of(known);
  std::vector<uint32_t> firsts;
  for (const auto v : sut)
    firsts.push_back(v.value);
  BOOST_TEST((firsts == std::vector<uint32_t>{0, 0, 2, 3, 0}));
  BOOST_TEST(weights_of({}).empty());
  const auto levels = levels_of(known, core::variant_id{4});
  firsts.clear();
  for (const auto v : levels)
    firsts.push_back(v.value);
  BOOST_TEST((firsts == std::vector<uint32_t>{0, 1, 4}));
}

BOOST_AUTO_TEST_CASE(rows_that_come_together_stay_together) {
  const std::vector<seat_offer> offers{{0, false}, {3, false}, {1, true}};
  BOOST_TEST(choose_seat(offers, 8, 8).value() == 2u);
}

BOOST_AUTO_TEST_CASE(an_idle_worker_is_taken_while_most_are_idle) {
  const std::vector<seat_offer> offers{{3, false}, {0, false}};
  BOOST_TEST(choose_seat(offers, 5, 8).value() == 1u);
  BOOST_TEST(choose_seat(offers, 4, 8).value() == 0u);
}

BOOST_AUTO_TEST_CASE(where_workers_are_short_the_fullest_batch_is_joined) {
  const std::vector<seat_offer> offers{{3, false}, {5, false}, {1, false}};
  BOOST_TEST(choose_seat(offers, 0, 8).value() == 1u);
  const std::vector<seat_offer> idle{{0, false}};
  BOOST_TEST(choose_seat(idle, 1, 8).value() == 0u);
  BOOST_TEST(!choose_seat({}, 8, 8).has_value());
}

BOOST_AUTO_TEST_CASE(a_row_passes_others_that_stay_in_time) {
  const core::time_point now{};
  const auto own = row(1, 100s, 20s);
  BOOST_TEST(may_join_before(own, row(2, 40s, 20s), now));
  BOOST_TEST(!may_join_before(own, row(2, 39s, 20s), now));
  auto endless = row(2, 0s, 20s);
  endless.deadline = core::never;
  BOOST_TEST(!may_join_before(own, endless, now));
}

BOOST_AUTO_TEST_SUITE_END()
