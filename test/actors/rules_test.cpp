// SPDX-License-Identifier: Apache-2.0
#include "support/stage_orders.hpp"
#include <atelier/actors/scheduler/rules.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <span>

namespace {

using namespace atelier;
using namespace std::chrono_literals;

std::shared_ptr<planning::plan> plan_of(uint64_t version, size_t legs = 1) {
  auto out = std::make_shared<planning::plan>();
  out->version = version;
  planning::route along;
  along.legs.resize(legs);
  out->routes = {along};
  return out;
}

struct rig {
  core::time_point now{1h};
  actors::rules sut{std::make_shared<planning::vanilla>(), plan_of(1),
                    test::standard_stages(), 7};

  bool follow(std::shared_ptr<const planning::plan> plan) {
    return sut.follow(std::move(plan), test::standard_stages(), now);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(rules_test, rig)

BOOST_AUTO_TEST_CASE(only_newer_plans_are_followed) {
  const auto before = sut.plan();
  BOOST_TEST(!follow(plan_of(1)));
  BOOST_TEST(sut.plan() == before);
  BOOST_TEST(follow(plan_of(3)));
  BOOST_TEST(sut.plan()->version == 3u);
  BOOST_TEST(!follow(plan_of(2)));
}

BOOST_AUTO_TEST_CASE(slots_are_computed_for_new_routes_only) {
  const auto before = sut.route_slots();
  BOOST_TEST(follow(plan_of(2)));
  BOOST_TEST(sut.route_slots() == before);
  BOOST_TEST(follow(plan_of(3, 2)));
  BOOST_TEST(sut.route_slots() != before);
}

BOOST_AUTO_TEST_CASE(choices_depend_on_the_seed_and_the_request_alone) {
  auto one = sut.random(core::request_id{1});
  auto again = sut.random(core::request_id{1});
  auto other = sut.random(core::request_id{2});
  actors::rules other_seed{std::make_shared<planning::vanilla>(), plan_of(1),
                           test::standard_stages(), 8};
  auto elsewhere = other_seed.random(core::request_id{1});
  const auto drawn = one.next_u64();
  BOOST_TEST(drawn != elsewhere.next_u64());
  BOOST_TEST(drawn == again.next_u64());
  BOOST_TEST(drawn != other.next_u64());
}

BOOST_AUTO_TEST_CASE(a_plan_without_rates_admits_everything) {
  const core::request wanted;
  const planning::profile costs;
  for (int i = 0; i < 100; ++i)
    BOOST_TEST((sut.admit(wanted, {}, costs, false, now) == 0s));
}

BOOST_AUTO_TEST_CASE(retrievals_call_for_one_plan_after_each_plan) {
  BOOST_TEST(!sut.calls_for_plan({}));

  struct impatient : planning::vanilla {
    bool plan_due(const planning::plan&,
                  std::span<const planning::retrieval_sample>) const override {
      return true;
    }
  };

  actors::rules other{std::make_shared<impatient>(), plan_of(1),
                      test::standard_stages(), 7};
  BOOST_TEST(other.calls_for_plan({}));
  BOOST_TEST(!other.calls_for_plan({}));
  other.follow(plan_of(2), test::standard_stages(), now);
  BOOST_TEST(other.calls_for_plan({}));
}

BOOST_AUTO_TEST_SUITE_END()
