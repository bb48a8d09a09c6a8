// SPDX-License-Identifier: Apache-2.0

// The list of stages, and what a profile says of them.

#include "planning/listed_stages.hpp"
#include <atelier/planning/pipeline.hpp>
#include <atelier/planning/profile.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::test;
using namespace std::chrono_literals;

namespace {

std::string error_of(const core::result<void>& x) {
  return x ? std::string{} : core::to_string(x.why());
}

} // namespace

BOOST_AUTO_TEST_SUITE(stage_list_test)

BOOST_AUTO_TEST_CASE(the_list_has_its_parts_in_order) {
  const auto sut = full_list();
  BOOST_TEST_REQUIRE(sut.size() == actors::standard_names.size());
  for (size_t i = 0; i < sut.size(); ++i)
    BOOST_TEST(sut.at(i).row().name == actors::standard_names[i]);
}

BOOST_AUTO_TEST_CASE(null_parts_are_left_out) {
  BOOST_TEST(standard_list().signature() == "prepare/1 denoise/1 finish/1");
}

BOOST_AUTO_TEST_CASE(a_profile_measures_only_stages_that_exist) {
  profile costs;
  costs.stages = {{"mask"}, {"upscale"}};
  const auto unknown = actors::check_stages(costs);
  BOOST_TEST(error_of(unknown)
             == "bad_config: stages.upscale: there is no stage 'upscale'");
  BOOST_TEST(error_of(actors::check_stages(
               costs, {{upscale_stage(planning::access::reads), ""}}))
             == "");
}

BOOST_AUTO_TEST_CASE(a_measured_stage_takes_what_was_measured) {
  stage_row row;
  row.name = "upscale";
  const auto stage = make_stage(idle_stage{row, {}});
  const auto order = core::typed_body::of(idle_stage::nothing{});
  profile costs;
  BOOST_TEST((time_of(*stage, order, costs, {1000, 500}) == 0ms));
  costs.stages = {{"upscale", 3ms, 40ms}};
  BOOST_TEST((time_of(*stage, order, costs, {1000, 500}) == 23ms));
  BOOST_TEST((time_of(*stage, order, costs, {}) == 3ms));
}

BOOST_AUTO_TEST_CASE(checks_run_in_their_order_behind_those_of_a_host) {
  actors::standard_stages parts;
  parts.checks = {stage_of("first", hook::before_answer), nullptr,
                  stage_of("second", hook::before_answer)};
  const auto made = actors::standard_pipeline(
    parts, {{stage_of("own", hook::before_answer), "denoise"}});
  BOOST_TEST_REQUIRE(made.operator bool());
  BOOST_TEST((*made)->signature()
             == "prepare/1 denoise/1 own/1 first/1 second/1 finish/1");
}

BOOST_AUTO_TEST_SUITE_END()
