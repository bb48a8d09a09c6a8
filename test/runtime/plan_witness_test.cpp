// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/plan_witness.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime {

namespace {

planning::plan version(uint64_t n) {
  planning::plan x;
  x.version = n;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(plan_witness_test)

BOOST_AUTO_TEST_CASE(the_plans_of_a_policy_are_seen_as_it_made_them) {
  for (const auto& policy : planning::all_policies()) {
    const auto sut = std::make_shared<plan_witness>();
    const auto watched = plan_witness::watch(policy, sut);
    BOOST_TEST(watched->name() == policy->name());
    const planning::profile known;
    const auto made = watched->replan({}, known, {}, version(3));
    BOOST_TEST(made.version == 4u);
    const auto seen = sut->find(4);
    BOOST_TEST_REQUIRE(seen.has_value(), policy->name());
    BOOST_TEST((seen->routes == made.routes));
    BOOST_TEST((seen->share == made.share));
    BOOST_TEST(!sut->find(3));
  }
}

BOOST_AUTO_TEST_CASE(the_newest_of_a_version_and_the_last_versions_are_kept) {
  plan_witness sut;
  auto late = version(1);
  late.saturated = true;
  sut.note(version(1));
  sut.note(late);
  BOOST_TEST(sut.find(1)->saturated);
  for (uint64_t n = 2; n <= 50; ++n)
    sut.note(version(n));
  BOOST_TEST(!sut.find(1));
  BOOST_TEST(sut.find(50).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime
