// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/plan.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace atelier::planning;

namespace {

struct counts {
  static constexpr std::string_view name = "counts";
  int seen = 0;
  friend bool operator==(const counts&, const counts&) = default;
};

/// A second type with the same name.
struct other_counts {
  static constexpr std::string_view name = "counts";
  int seen = 0;
  friend bool operator==(const other_counts&, const other_counts&) = default;
};

} // namespace

BOOST_AUTO_TEST_SUITE(policy_memory_test)

BOOST_AUTO_TEST_CASE(what_remembers_nothing_equals_its_like_alone) {
  const policy_memory none;
  BOOST_TEST(!none);
  BOOST_TEST(none.of() == "");
  BOOST_TEST(none.as<counts>() == nullptr);
  BOOST_TEST((none == policy_memory{}));
  BOOST_TEST((none != policy_memory{counts{}}));
  BOOST_TEST((policy_memory{counts{}} != none));
}

BOOST_AUTO_TEST_CASE(memories_are_equal_by_value_and_type) {
  const policy_memory a = counts{3};
  const policy_memory b = counts{3};
  BOOST_TEST((a == b));
  BOOST_TEST((a != policy_memory{counts{4}}));
  BOOST_TEST((a != policy_memory{other_counts{3}}));
  BOOST_TEST(a.of() == "counts");
  BOOST_TEST(a.as<counts>()->seen == 3);
  BOOST_TEST(a.as<other_counts>() == nullptr);
}

BOOST_AUTO_TEST_CASE(copies_of_a_plan_share_its_memory) {
  plan first;
  first.memory = counts{7};
  const plan second = first;
  BOOST_TEST((first == second));
  BOOST_TEST(first.memory.as<counts>() == second.memory.as<counts>());
  first.memory = counts{8};
  BOOST_TEST((first != second));
  BOOST_TEST(second.memory.as<counts>()->seen == 7);
}

BOOST_AUTO_TEST_SUITE_END()
