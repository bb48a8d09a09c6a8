// SPDX-License-Identifier: Apache-2.0
#include "planning/every_policy.hpp"
#include "planning/profiles/read_profile.hpp"
#include <atelier/planning/demand_file.hpp>
#include <atelier/planning/feasibility.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;

namespace {

plan planned(const profile& known, std::string_view policy, double rate,
             uint32_t workers = 16) {
  cluster_view there;
  for (uint32_t i = 0; i < workers; ++i) {
    worker_view w;
    w.worker = core::worker_id{i + 1};
    w.hosting = {core::variant_id{0}};
    w.max_batch = w.seats_free = 4;
    there.workers.push_back(std::move(w));
  }
  return judged(
    test::any_policy(policy)->replan(demand_of_rate(rate), known, there, {}),
    known, there);
}

bool names(const plan& x, std::string_view part) {
  return x.reason.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(feasibility_test)

BOOST_AUTO_TEST_CASE(a_deadline_that_no_image_meets_is_told_by_every_policy) {
  const auto known = test::read_profile("impossible-deadline");
  for (const auto& one : test::every_policy()) {
    const auto made = planned(known, one->name(), 10);
    BOOST_TEST_CONTEXT(one->name()) {
      BOOST_TEST((made.feasible == feasibility::never));
      BOOST_TEST(names(made, "deadline_ms 40: one image"), made.reason);
    }
  }
  // One light image takes 50 ms, and the deadline is 40 ms.
  const auto ours = planned(known, "diffserve", 10);
  BOOST_TEST(names(ours, "light variant takes 50 ms"), ours.reason);
  BOOST_TEST((ours.reason == planned(known, "diffserve-paper", 10).reason));
}

BOOST_AUTO_TEST_CASE(only_what_was_looked_at_is_called_feasible) {
  const auto known = test::read_profile("diffserve-sdxs");
  const auto of = [&](std::string_view policy, double rate) {
    return planned(known, policy, rate).feasible;
  };
  for (const auto policy : {"atelier", "diffserve", "diffserve-paper"}) {
    BOOST_TEST_CONTEXT(policy) {
      BOOST_TEST((of(policy, 10) == feasibility::yes));
      const auto much = planned(known, policy, 100'000);
      BOOST_TEST((much.feasible == feasibility::no));
      BOOST_TEST(names(much, "demand: "), much.reason);
    }
  }
  BOOST_TEST((of("vanilla", 10) == feasibility::unchecked));
  BOOST_TEST((of("instgenie", 10) == feasibility::unchecked));
  const auto ladder = test::read_profile("argus-a100");
  BOOST_TEST((planned(ladder, "argus", 1).feasible == feasibility::yes));
  BOOST_TEST((planned(ladder, "argus", 1000).feasible == feasibility::no));
}

BOOST_AUTO_TEST_CASE(a_deadline_that_the_first_image_meets_is_none_missed) {
  auto known = test::read_profile("impossible-deadline");
  known.cascades[0].deadline = std::chrono::milliseconds{51};
  BOOST_TEST((planned(known, "diffserve", 10).feasible == feasibility::yes));
  // A profile without a deadline has none to miss.
  known.cascades.clear();
  BOOST_TEST(
    (planned(known, "vanilla", 10).feasible == feasibility::unchecked));
}

BOOST_AUTO_TEST_SUITE_END()
