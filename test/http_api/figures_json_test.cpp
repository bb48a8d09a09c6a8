// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/cluster_json.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <vector>

namespace {

using namespace atelier::runtime;
using atelier::core::figure_place;

const std::vector<shown_figure> some{
  {{"late", "requests", "m_total", "Late.", figure_place::json}, uint64_t{3}},
  {{"steps", "devices", "n_total", "Steps."}, uint64_t{4}},
  {{"failed", "requests", "o_total", "Failed.", figure_place::health},
   uint64_t{5}},
  {{"torn", "cache", "", "", figure_place::status}, uint64_t{6}},
  {{"off", "cache", "", "", figure_place::json}, true},
  {{"recall", "cache", "", "", figure_place::json}, std::nan("")},
};

} // namespace

BOOST_AUTO_TEST_SUITE(figures_json_test)

BOOST_AUTO_TEST_CASE(all_but_plain_metrics_are_in_the_object_of_their_group) {
  BOOST_TEST(http::detail::grouped_figures(some).dump()
             == R"({"requests":{"late":3,"failed":5},)"
                R"("cache":{"torn":6,"off":true,"recall":null}})");
}

BOOST_AUTO_TEST_CASE(each_place_has_its_own_figures) {
  BOOST_TEST(http::detail::figures_at(figure_place::health, some).dump()
             == R"({"failed":5})");
  BOOST_TEST(http::detail::figures_at(figure_place::status, some).dump()
             == R"({"torn":6})");
}

BOOST_AUTO_TEST_SUITE_END()
