// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/demand/popularity.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;

demand_window window(core::timespan begin, std::vector<uint64_t> placed) {
  demand_window w;
  w.begin = core::time_point{begin};
  w.length = 10s;
  w.placed = std::move(placed);
  return w;
}

} // namespace

BOOST_AUTO_TEST_SUITE(popularity_test)

BOOST_AUTO_TEST_CASE(a_window_counts_once) {
  const std::vector<demand_window> windows{window(0s, {4, 0}),
                                           window(10s, {2, 1})};
  const auto once = counted({}, windows);
  BOOST_TEST((counted(once, windows) == once));
  BOOST_TEST(rate_of(once, core::variant_id{0})
             > 5 * rate_of(once, core::variant_id{1}));
  BOOST_TEST(rate_of(once, core::variant_id{7}) == 0);
}

BOOST_AUTO_TEST_CASE(an_hour_halves_what_was_counted) {
  const auto before = counted({}, std::vector{window(0s, {8})});
  const auto later = counted(before, std::vector{window(1h, {0})});
  BOOST_TEST(rate_of(later, core::variant_id{0}) * 2
               == rate_of(before, core::variant_id{0}),
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_SUITE_END()
