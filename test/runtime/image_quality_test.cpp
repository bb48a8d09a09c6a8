// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/detail/image_quality.hpp>
#include <atelier/runtime/measure_reuse.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <vector>

using namespace atelier;
using runtime::detail::likeness;

BOOST_AUTO_TEST_SUITE(image_quality_test)

BOOST_AUTO_TEST_CASE(likeness_is_the_correlation_of_values) {
  const std::vector<uint8_t> x{0, 50, 100, 250};
  const std::vector<uint8_t> brighter{5, 30, 55, 130};
  const std::vector<uint8_t> negative{255, 205, 155, 5};
  const auto tolerance = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(likeness(x, x) == 1.0, tolerance);
  BOOST_TEST(likeness(x, brighter) == 1.0, tolerance);
  BOOST_TEST(likeness(x, negative) == 0.0);
  const std::vector<uint8_t> half{0, 50, 100, 100};
  BOOST_TEST(likeness(x, half) > 0.7);
  BOOST_TEST(likeness(x, half) < 0.9);
}

BOOST_AUTO_TEST_CASE(plain_images_are_alike_only_if_equal) {
  const std::vector<uint8_t> grey(12, 128);
  const std::vector<uint8_t> white(12, 255);
  BOOST_TEST(likeness(grey, grey) == 1.0);
  BOOST_TEST(likeness(grey, white) == 0.0);
}

BOOST_AUTO_TEST_CASE(other_models_are_measured_by_likeness) {
  config::settings x;
  x.policy.judges = "/nowhere";
  for (const bool draws_scenes : {false, true}) {
    const auto quality = runtime::detail::quality_for(x, draws_scenes);
    BOOST_TEST_REQUIRE(bool(quality));
    BOOST_TEST(quality->name == runtime::likeness_measure);
    const std::vector<uint8_t> full{1, 2, 3};
    BOOST_TEST(*quality->of(full, full, {1, 1}, "a") == 1.0,
               boost::test_tools::tolerance(1e-12));
  }
}

#ifdef ATELIER_WITH_TORCH
BOOST_AUTO_TEST_CASE(the_familys_models_are_measured_by_its_scorer) {
  config::settings x;
  x.policy.judges = ATELIER_SOURCE_DIR "/models";
  BOOST_TEST(runtime::detail::quality_for(x, false)->name
             == runtime::likeness_measure);
  const auto quality = runtime::detail::quality_for(x, true);
  BOOST_REQUIRE_MESSAGE(quality, (quality ? "" : quality.why().text));
  BOOST_TEST(quality->name == runtime::scorer_measure);
  // The image is white, so that the full run's image has no influence.
  const core::extent px{64, 64};
  const std::vector<uint8_t> white(px.pixels() * 3, 255);
  const auto score = [&](const char* prompt) {
    const auto out = quality->of(white, {}, px, prompt);
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
    return *out;
  };
  const auto fitting = score("a small white circle on a white background");
  BOOST_TEST(fitting <= 1.0);
  BOOST_TEST(fitting > score("a large red star on a black background"));
}
#endif

BOOST_AUTO_TEST_SUITE_END()
