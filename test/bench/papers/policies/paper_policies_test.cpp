// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/scene.hpp"
#include "planning/sample.hpp"
#include <atelier/bench/papers/policies/argus_comparisons.hpp>
#include <atelier/bench/papers/policies/diffserve_comparisons.hpp>
#include <atelier/planning/comparisons.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::planning;

namespace {

void count_anything(core::philox& random, demand_window& w) {
  w.predicted = {{random.below(50), random.below(50), random.below(50)},
                 {random.below(50), random.below(50), random.below(50)}};
  w.placed = {random.below(60), random.below(60), random.below(60)};
  w.confidences.assign(201, random.below(4));
  w.late = random.below(3);
  for (auto n = random.below(4); n > 0; --n)
    w.retrievals.push_back({2 * random.uniform(), random.below(9) == 0});
}

/// Returns whether both policies make the same plans of one history.
bool plan_alike(std::string_view name, policy_ptr other, uint64_t seed) {
  auto random = test::random_of(seed);
  test::scene published{name, 1 + random.below(12)};
  auto same = published;
  same.sut = std::move(other);
  for (int period = 0; period < 8; ++period) {
    const double rate = random.below(5) == 0 ? 0 : 3 * random.uniform();
    count_anything(random, published.window(rate));
    same.window(rate) = published.asked.windows.back();
    published.asked.backlog = same.asked.backlog = random.below(20);
    published.replan();
    same.replan();
    if (published.now != same.now)
      return false;
    published.load();
    same.load();
  }
  return true;
}

} // namespace

BOOST_AUTO_TEST_SUITE(paper_policies_test)

// No server makes them, and no program has others.
BOOST_AUTO_TEST_CASE(comparisons_are_those_of_the_papers_in_their_order) {
  std::vector<std::string> wanted;
  for (const auto& row : policy_rows())
    if (is_for_comparisons(row.name))
      wanted.emplace_back(row.name);
  std::vector<std::string> found;
  for (const auto& p : papers::paper_policies())
    found.emplace_back(p->name());
  BOOST_TEST(found == wanted, boost::test_tools::per_element());
  BOOST_TEST(!is_for_comparisons("atelier"));
  BOOST_TEST(!is_for_comparisons("fixed"));
  BOOST_TEST(!is_for_comparisons("something"));
  const auto refused = make_policy("clipper-light");
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.why().code == core::ec::not_found));
  BOOST_TEST(refused.why().text
             == "policy 'clipper-light' is a baseline of Argus, for "
                "comparisons: 'atelier simulate' and 'atelier plan' take it in "
                "--policy, servers do not");
  BOOST_TEST(make_policy("aimd").why().text.starts_with(
    "policy 'aimd' is an ablation of DiffServe, "));
  // The list of known names has each of them once.
  BOOST_TEST(make_policy("something", papers::paper_policies()).why().text
             == make_policy("something").why().text);
}

// The experiments run the published policies by these rules, too.
BOOST_AUTO_TEST_CASE(rules_without_a_difference_plan_as_published) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    for (const auto& rules : all_diffserve_rules()) {
      papers::diffserve_comparison_rules plain;
      static_cast<diffserve_rules&>(plain) = rules;
      BOOST_TEST(
        plan_alike(rules.name,
                   std::make_shared<papers::diffserve_comparison>(plain), seed),
        rules.name << ", seed " << seed);
    }
    for (const auto& rules : all_argus_rules()) {
      papers::argus_comparison_rules plain;
      static_cast<argus_rules&>(plain) = rules;
      BOOST_TEST(plan_alike(rules.name,
                            std::make_shared<papers::argus_comparison>(plain),
                            seed),
                 rules.name << ", seed " << seed);
    }
  }
}

BOOST_AUTO_TEST_CASE(plan_files_of_comparisons_are_known_by_their_policy) {
  BOOST_TEST(plan_is_for_comparisons(R"({"policy": "random-cascade"})"));
  for (const auto* text :
       {R"({"policy": "diffserve"})", R"({"policy": ["random-cascade"]})",
        R"({"name": "random-cascade"})", R"("random-cascade")", "[]", "{", ""})
    BOOST_TEST(!plan_is_for_comparisons(text), text);
}

BOOST_AUTO_TEST_SUITE_END()
