// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/evaluation/run_names.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(run_names_test)

BOOST_AUTO_TEST_CASE(runs_are_named_by_variant_guidance_and_sampler) {
  evaluation_plan plan;
  plan.variants = {{"base", 20}, {"turbo", 4}};
  plan.guidances = {3, 7.5f};
  plan.samplers = {core::sampler::ddim, core::sampler::dpmpp_2m};
  const std::vector<std::string> expected{
    "base@20-3-ddim",       "base@20-3-dpmpp_2m", "base@20-7.5-ddim",
    "base@20-7.5-dpmpp_2m", "turbo@4-1-ddim",     "turbo@4-1-dpmpp_2m"};
  BOOST_TEST(run_names(plan) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(turbo_runs_without_guidance_whatever_is_asked) {
  evaluation_plan plan;
  plan.guidances = {3, 5};
  BOOST_TEST((guidances_of(plan, {"turbo", 4}) == std::vector<float>{1}));
  BOOST_TEST((guidances_of(plan, {"tiny", 4}) == std::vector<float>{3, 5}));
}

BOOST_AUTO_TEST_SUITE_END()
