// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/policies/argus/ladder.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::planning::argus;

namespace {

level at(const char* name, double seconds, double quality) {
  level x;
  x.name = name;
  x.seconds = seconds;
  x.quality = quality;
  return x;
}

std::string names(const ladder& of) {
  std::string out;
  for (const level& x : of)
    out += x.name;
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(argus_ladder_test)

BOOST_AUTO_TEST_CASE(dominated_levels_are_left_out) {
  BOOST_TEST(names(without_dominated({})) == "");
  BOOST_TEST(names(without_dominated({at("a", 1, 1)})) == "a");
  // Level b is slower and worse than a. Level d is as fast as c and worse.
  // Level e is as good as a and slower.
  BOOST_TEST(
    names(without_dominated({at("b", 5, 0.5), at("a", 4, 1), at("d", 2, 0.6),
                             at("c", 2, 0.8), at("e", 6, 1), at("f", 1, 0.1)}))
    == "acf");
  // The first of two equal levels remains.
  BOOST_TEST(names(without_dominated({at("x", 1, 1), at("y", 1, 1)})) == "x");
}

BOOST_AUTO_TEST_CASE(skipped_steps_take_no_time) {
  auto known = test::three_variants();
  auto& base = known.variants[0];
  base.text = std::chrono::milliseconds{20};
  base.decode = std::chrono::milliseconds{80};
  const auto near = boost::test_tools::tolerance(1e-9);
  BOOST_TEST(request_seconds(base, {}) == 0.6, near);
  BOOST_TEST(request_seconds(base, {}, 10) == 0.5, near);
  BOOST_TEST(request_seconds(base, {}, 25) == 0.35, near);
  BOOST_TEST(request_seconds(base, {}, 60) == 0.1, near);
  level x;
  x.seconds = 0.4;
  BOOST_TEST(x.rate() == 2.5, near);
}

BOOST_AUTO_TEST_SUITE_END()
