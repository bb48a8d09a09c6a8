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

BOOST_AUTO_TEST_CASE(skipped_steps_take_no_time_and_retrieval_does) {
  auto known = test::three_variants();
  auto& base = known.variants[0];
  base.text = std::chrono::milliseconds{20};
  base.decode = std::chrono::milliseconds{80};
  base.load = std::chrono::seconds{9};
  const std::vector<uint32_t> skips{0, 25, 10, 50};
  const std::vector<double> quality{1, 0.9, 0.97, 0.1};
  const auto levels =
    latents_ladder(known, core::variant_id{0}, skips, quality, {}, 0.05);
  BOOST_REQUIRE(levels.size() == 3u);
  BOOST_TEST(levels[0].seconds == 0.6, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(levels[1].skip == 10u);
  BOOST_TEST(levels[1].seconds == 0.55, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(levels[2].skip == 25u);
  BOOST_TEST(levels[2].seconds == 0.4, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(levels[2].rate() == 2.5, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(levels[0].load_seconds == 9.0);
}

BOOST_AUTO_TEST_CASE(variants_in_any_precision_are_levels) {
  auto known = test::three_variants();
  known.variants[0].quality = 1;
  known.variants[1].quality = 0.9;
  known.variants[2].quality = 0.95;
  const std::vector<core::variant_id> all{
    core::variant_id{2}, core::variant_id{0}, core::variant_id{1}};
  const auto levels = models_ladder(known, all, {});
  BOOST_TEST(names(levels) == "base@50turbo@1");
  BOOST_TEST(levels[1].variant.value == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
