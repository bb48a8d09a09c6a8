// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/bench/papers/policies/paper_policies.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

#include <string_view>

namespace atelier::test {

/// Returns the policies of servers, followed by those that only comparisons
/// use.
inline planning::policy_list every_policy() {
  auto all = planning::all_policies();
  const auto& more = papers::paper_policies();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Returns the policy of that name, whoever makes it.
inline planning::policy_ptr any_policy(std::string_view name) {
  auto made = planning::make_policy(name, papers::paper_policies());
  BOOST_REQUIRE_MESSAGE(static_cast<bool>(made), name);
  return *made;
}

} // namespace atelier::test
