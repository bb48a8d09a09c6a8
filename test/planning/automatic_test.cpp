// SPDX-License-Identifier: Apache-2.0
#include "full_profile.hpp"
#include <atelier/planning/automatic.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

#include <initializer_list>

using namespace atelier;
using namespace atelier::planning;

namespace {

profile of(std::initializer_list<const char*> variants) {
  profile p;
  for (const auto* name : variants)
    p.variants.push_back(*parse_variant(name));
  return p;
}

} // namespace

BOOST_AUTO_TEST_SUITE(automatic_test)

BOOST_AUTO_TEST_CASE(models_that_nothing_relates_are_hosted_by_demand) {
  BOOST_TEST(policy_for(of({"a@20", "b@20"})) == "atelier");
  BOOST_TEST(policy_for(of({"a@20", "a@10", "b@20"})) == "atelier");
}

BOOST_AUTO_TEST_CASE(one_model_runs_what_is_asked_for) {
  BOOST_TEST(policy_for(of({})) == "vanilla");
  BOOST_TEST(policy_for(of({"a@20"})) == "vanilla");
  BOOST_TEST(policy_for(of({"a@20", "a@10"})) == "vanilla");
}

BOOST_AUTO_TEST_CASE(nobody_is_answered_by_what_was_not_asked_for) {
  const auto all = test::full_profile();
  const auto only = [&](auto section) {
    auto p = of({"a@20", "b@20", "c@20"});
    p.*section = all.*section;
    return p;
  };
  BOOST_TEST_REQUIRE((!all.ladders.empty() && !all.cascades.empty() && all.reuse
                      && !all.masked.empty()));
  const auto unrelated = of({"a@20", "b@20"});
  BOOST_TEST(!relates_variants(unrelated));
  for (const auto& p : {only(&profile::ladders), only(&profile::cascades),
                        only(&profile::reuse)}) {
    BOOST_TEST(relates_variants(p));
    BOOST_TEST(policy_for(p) == "vanilla");
  }
  // An edit from records is not the same work as an edit in full.
  BOOST_TEST(!relates_variants(only(&profile::masked)));
  BOOST_TEST(policy_for(only(&profile::masked)) == "vanilla");
}

BOOST_AUTO_TEST_CASE(what_it_chooses_is_a_policy_and_its_own_name_is_none) {
  for (const auto& p : {of({"a@20"}), of({"a@20", "b@20"})})
    BOOST_TEST(static_cast<bool>(make_policy(policy_for(p))));
  BOOST_TEST(!make_policy(automatic_name));
}

BOOST_AUTO_TEST_SUITE_END()
