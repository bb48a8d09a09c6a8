// SPDX-License-Identifier: Apache-2.0
#include "planning/two_kinds.hpp"
#include <atelier/planning/backlog.hpp>
#include <atelier/planning/hosting_by_demand.hpp>
#include <atelier/planning/hosting_rules.hpp>
#include <atelier/planning/step_table.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;

namespace {

constexpr core::variant_id light{0};
constexpr core::variant_id heavy{1};

core::timespan step_on(const profile& p, core::variant_id v,
                       std::string_view kind) {
  return on_kind(p, v, kind).step.front().took;
}

} // namespace

BOOST_AUTO_TEST_SUITE(kinds_test)

BOOST_AUTO_TEST_CASE(a_listed_kind_has_its_costs_and_others_the_profiles) {
  const auto known = test::two_kinds();
  BOOST_TEST((step_on(known, light, "slow") == 800ms));
  for (const char* other : {"quick", "", "slo", "slow2"}) {
    BOOST_TEST(find_kind(known, other) == nullptr, other);
    BOOST_TEST((step_on(known, light, other) == 100ms), other);
    BOOST_TEST(!guessed_on(known, light, other), other);
  }
  // A variant's properties other than its costs do not depend on the kind.
  BOOST_TEST(on_kind(known, heavy, "slow").name == "heavy@10");
  BOOST_TEST(on_kind(known, heavy, "slow").quality == 1);
  BOOST_TEST((load_on(known, heavy, "slow") == 8s));
  BOOST_TEST((load_on(known, heavy, "quick") == 1s));
  BOOST_TEST(memory_on(known, heavy, "slow") == 8000u);
  BOOST_TEST((judging_on(known, known.cascades[0], "slow") == 160ms));
  BOOST_TEST((judging_on(known, known.cascades[0], "quick") == 20ms));
}

BOOST_AUTO_TEST_CASE(what_a_kind_lacks_is_the_profiles_word_and_a_guess) {
  auto known = test::two_kinds();
  known.kinds[0].variants[1].reset();
  BOOST_TEST((step_on(known, heavy, "slow") == 100ms));
  BOOST_TEST(on_kind(known, heavy, "slow").guessed);
  BOOST_TEST(guessed_on(known, heavy, "slow"));
  known.kinds[0].variants.clear();
  BOOST_TEST(guessed_on(known, light, "slow"));
  BOOST_TEST(!guessed_on(known, light, "quick"));
}

BOOST_AUTO_TEST_CASE(a_profile_seen_on_a_kind_is_one_of_that_kind_alone) {
  auto known = test::two_kinds();
  masked_profile edits;
  edits.variant = heavy;
  edits.compute_slope = 1;
  known.masked = {edits};
  edits.compute_slope = 8;
  known.kinds[0].masked = {edits};
  known.kinds[0].measured_with = core::instruction_set::avx2;
  const auto slow = seen_on(known, "slow");
  BOOST_TEST(slow.kinds.empty());
  BOOST_TEST((slow.variants[1].step.front().took == 800ms));
  BOOST_TEST((slow.cascades[0].judging == 160ms));
  BOOST_TEST(slow.masked[0].compute_slope == 8);
  BOOST_TEST(slow.idle_watts == 5);
  BOOST_TEST((slow.measured_with == core::instruction_set::avx2));
  const auto quick = seen_on(known, "quick");
  BOOST_TEST(quick.kinds.empty());
  BOOST_TEST((quick.variants == known.variants));
  BOOST_TEST(quick.masked[0].compute_slope == 1);
}

BOOST_AUTO_TEST_CASE(tables_are_of_a_kind) {
  const kind_tables sut{test::two_kinds()};
  const core::extent px{64, 64};
  BOOST_TEST((sut.of(heavy).steps.at(1, px) == 100ms));
  BOOST_TEST((sut.of(heavy, "quick").steps.at(1, px) == 100ms));
  BOOST_TEST((sut.of(heavy, "slow").steps.at(1, px) == 800ms));
  BOOST_TEST((sut.of(heavy, "slow").costs.load == 8s));
}

BOOST_AUTO_TEST_CASE(devices_are_grouped_by_kind) {
  const auto groups = groups_in(test::quick_and_slow(2, 3));
  BOOST_TEST_REQUIRE(groups.size() == 2u);
  BOOST_TEST((groups[0] == device_group{"quick", 2}));
  BOOST_TEST((groups[1] == device_group{"slow", 3}));
  BOOST_TEST(group_of(groups, 1)->kind == "quick");
  BOOST_TEST(group_of(groups, 2)->kind == "slow");
  BOOST_TEST(group_of(groups, 4)->kind == "slow");
  BOOST_TEST(group_of(groups, 5) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_mean_device_does_its_part_of_what_all_do) {
  const auto known = test::two_kinds();
  const std::vector<device_group> groups{{"quick", 1}, {"slow", 1}};
  const auto mean = mean_over(known, groups);
  // Ten light images a second and one and a quarter: 5.625 each.
  BOOST_TEST(core::to_seconds(mean.variants[0].step.front().took) == 1 / 5.625,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST((mean.variants[0].load == 4500ms));
  BOOST_TEST(mean.variants[0].memory_bytes == 8000u);
  BOOST_TEST((mean.kinds == known.kinds));
  auto alike = known;
  alike.kinds.clear();
  BOOST_TEST((mean_over(alike, groups) == alike));
  BOOST_TEST((mean_over(known, {}) == known));
}

BOOST_AUTO_TEST_CASE(a_kind_is_read_from_a_profile_of_its_own) {
  const auto known = test::two_kinds();
  profile own;
  own.idle_watts = 7;
  own.measured_with = core::instruction_set::avx2;
  // The kinds come in another order, one is unknown, and one is missing.
  for (const char* name : {"other@3", "heavy@10"}) {
    auto v = *parse_variant(name);
    v.step = {{1, 64 * 64, 333ms, 4}};
    own.variants.push_back(v);
  }
  const auto kind = kind_from(known, "mine", own);
  BOOST_TEST(kind.kind == "mine");
  BOOST_TEST(kind.idle_watts == 7);
  BOOST_TEST((kind.measured_with == core::instruction_set::avx2));
  BOOST_TEST_REQUIRE(kind.variants.size() == 2u);
  BOOST_TEST(!kind.variants[0].has_value());
  BOOST_TEST((kind.variants[1]->step.front().took == 333ms));
}

BOOST_AUTO_TEST_CASE(memory_is_that_of_the_workers_kind) {
  const auto known = test::two_kinds();
  auto there = test::quick_and_slow(1, 1);
  for (auto& w : there.workers)
    w.memory_bytes = 2000;
  BOOST_TEST(may_host(there.workers[0], {light, heavy}, known));
  BOOST_TEST(!may_host(there.workers[1], {light}, known));
}

BOOST_AUTO_TEST_CASE(what_waits_gets_the_host_that_ends_it_first) {
  // A slow worker has the variant loaded in 8 s and draws an image in 8 s more.
  // A quick worker that is busy for a while is sooner.
  const auto known = test::two_kinds();
  auto there = test::quick_and_slow(1, 1);
  for (auto& w : there.workers) {
    w.becoming = w.hosting;
    w.memory_bytes = 8000;
  }
  auto& quick = there.workers[0];
  quick.seats_taken = 1;
  quick.steps_left = 1;
  quick.running = {light};
  there.unhosted = {heavy};
  const auto made = host_by_demand({}, {}, known, there, {});
  BOOST_TEST_REQUIRE(made.workers.size() == 2u);
  BOOST_TEST((made.workers[0].hosting == std::vector{light, heavy}));
  BOOST_TEST(made.workers[1].hosting.empty());
}

BOOST_AUTO_TEST_CASE(a_backlog_knows_the_kinds_that_work_it_off) {
  backlog sut{2};
  auto there = test::quick_and_slow(1, 2);
  there.workers[2].hosting = {heavy};
  sut.see(there);
  BOOST_TEST_REQUIRE(sut.hosts_of(light).size() == 2u);
  BOOST_TEST((sut.hosts_of(light)[1] == device_group{"slow", 1}));
  BOOST_TEST_REQUIRE(sut.hosts_of(heavy).size() == 1u);
  const device_time both[] = {{1, 100ms}, {1, 800ms}};
  // Two devices together did this work: each has half of the n rows.
  BOOST_TEST(core::to_seconds(mean_time(both)) == 2 / (10 + 1.25),
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(each_kind_has_a_pace_of_its_own) {
  measured_pace sut{1};
  sut.note(light, "slow", 10ms, 40ms);
  BOOST_TEST((sut.corrected(light, "slow", 10ms) == 40ms));
  // A kind that has not run is assumed to be as slow.
  BOOST_TEST((sut.corrected(light, "quick", 10ms) == 40ms));
  sut.note(light, "quick", 10ms, 10ms);
  BOOST_TEST((sut.corrected(light, "quick", 10ms) == 10ms));
  BOOST_TEST((sut.corrected(light, "slow", 10ms) == 40ms));
}

BOOST_AUTO_TEST_SUITE_END()
