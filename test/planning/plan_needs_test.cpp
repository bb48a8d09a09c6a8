// SPDX-License-Identifier: Apache-2.0
#include "planning/every_policy.hpp"
#include "planning/full_profile.hpp"
#include <atelier/planning/plan_needs.hpp>
#include <atelier/planning/policies/atelier/unified_memory.hpp>

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

using namespace atelier;
using namespace atelier::planning;

namespace {

/// Two variants, and a plan that draws in two legs.
struct scene {
  scene() {
    for (const uint32_t steps : {20u, 4u}) {
      variant_profile v;
      v.name = "base@" + std::to_string(steps);
      v.steps = steps;
      known.variants.push_back(v);
    }
    plan.routes.resize(2);
    plan.routes[0].legs.resize(1);
    plan.routes[0].legs[0].any_of = {core::variant_id{0}};
    plan.routes[1].legs.resize(2);
    plan.routes[1].legs[0].any_of = {core::variant_id{1}};
    plan.routes[1].legs[1].any_of = {core::variant_id{0}};
    plan.share = {{0, 1}};
    plan.workers.resize(1);
  }

  leg& second() {
    return plan.routes[1].legs[1];
  }

  std::string fault(bool keeps_work = false) const {
    const auto x = check_needs(plan, "p.json", known, keeps_work);
    if (x)
      return {};
    BOOST_TEST((x.why().code == core::ec::bad_config));
    return x.why().text;
  }

  profile known;
  saved_plan plan;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(plan_needs_test, scene)

BOOST_AUTO_TEST_CASE(what_draws_in_full_is_served) {
  BOOST_TEST(fault() == "");
  second().from = origin::stage_image;
  BOOST_TEST(fault() == "");
  second().skip = 10;
  BOOST_TEST(fault() == "");
  second() = leg{};
  second().any_of = {core::variant_id{0}};
  second().level_of_worker = true;
  BOOST_TEST(fault() == "");
}

BOOST_AUTO_TEST_CASE(what_was_stored_is_not_there) {
  second().from = origin::latent;
  second().skip = 10;
  BOOST_TEST(fault().starts_with("p.json: plan.routes[1].stages[1].from: "
                                 "\"latent\": this server stores no latents"));
  second().from = origin::image;
  BOOST_TEST(fault().starts_with("p.json: plan.routes[1].stages[1].from: "
                                 "\"image\": this server stores no images"));
  second().from = origin::template_image;
  BOOST_TEST(fault(true) == fault());
  BOOST_TEST(fault()
             == "p.json: plan.routes[1].stages[1].from: \"template_image\": "
                "this server stores no templates");
}

BOOST_AUTO_TEST_CASE(what_is_kept_may_be_started_from) {
  second().skip = 10;
  for (const auto from : {origin::latent, origin::image}) {
    second().from = from;
    BOOST_TEST(fault(true) == "");
    BOOST_TEST(fault(false).ends_with("(cache.memory_mib)"));
  }
  second().skip = 1000;
  BOOST_TEST(fault(true).find("leaves none of 20 steps") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(nothing_stands_before_the_first_stage) {
  plan.routes[1].legs[0].from = origin::stage_image;
  BOOST_TEST(fault()
             == "p.json: plan.routes[1].stages[0].from: \"stage_image\": there "
                "is no stage before the first");
}

BOOST_AUTO_TEST_CASE(nothing_is_skipped_from_noise) {
  second().skip = 10;
  BOOST_TEST(fault()
             == "p.json: plan.routes[1].stages[1].skip: 10: nothing can be "
                "skipped from \"noise\"");
}

BOOST_AUTO_TEST_CASE(a_skip_beyond_the_steps_is_told_as_such) {
  second().skip = 1000;
  BOOST_TEST(fault()
             == "p.json: plan.routes[1].stages[1].skip: 1000 leaves none of 20 "
                "steps to run");
  second().skip = 5;
  second().skip_of = 4;
  BOOST_TEST(fault()
             == "p.json: plan.routes[1].stages[1].skip: 5 leaves none of 20 "
                "steps to run");
}

BOOST_AUTO_TEST_CASE(a_level_that_skips_needs_latents) {
  second().level_of_worker = true;
  plan.workers[0].level = 5;
  BOOST_TEST(fault(true) == fault());
  BOOST_TEST(fault().starts_with(
    "p.json: plan.routes[1].stages[1].level_of_worker: true: "));
}

BOOST_AUTO_TEST_CASE(a_route_that_nobody_takes_does_no_harm) {
  second().from = origin::latent;
  plan.share = {{1, 0}};
  BOOST_TEST(fault() == "");
  unified_memory memory;
  memory.blind = {{0.5, 0.5}};
  plan.memory = memory;
  BOOST_TEST(fault() != "");
}

BOOST_AUTO_TEST_CASE(every_fault_is_told_at_once) {
  second().from = origin::latent;
  plan.routes[1].legs[0].skip = 2;
  const auto all = fault();
  BOOST_TEST(all.find("stages[0].skip") != std::string::npos);
  BOOST_TEST(all.find("\np.json: plan.routes[1].stages[1].from")
             != std::string::npos);
}

// Only the family of Argus has fewer workers than full runs would need.
BOOST_AUTO_TEST_CASE(plans_that_count_with_skipped_steps_are_known) {
  auto all = test::full_profile();
  const std::set<std::string> by_worker{"argus-paper", "pac",
                                        "argus-no-classifier", "argus-no-shift",
                                        "argus-no-switch"};
  for (const auto& by : test::every_policy()) {
    const std::string name{by->name()};
    const auto found = planned_skip(*by, all);
    BOOST_TEST(found.has_value()
                 == (name == "argus" || by_worker.count(name) != 0),
               name);
    BOOST_TEST((found && found->by_worker) == (by_worker.count(name) != 0),
               name);
  }
  std::erase_if(all.ladders, [](const ladder_profile& x) {
    return x.kind == ladder_kind::cached_latents;
  });
  for (const auto& by : test::every_policy())
    BOOST_TEST(!planned_skip(*by, all), by->name());
}

BOOST_AUTO_TEST_SUITE_END()
