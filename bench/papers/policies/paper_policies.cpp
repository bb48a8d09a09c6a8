// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/policies/argus_comparisons.hpp>
#include <atelier/bench/papers/policies/diffserve_comparisons.hpp>
#include <atelier/bench/papers/policies/instgenie_comparisons.hpp>
#include <atelier/bench/papers/policies/modm_comparisons.hpp>
#include <atelier/bench/papers/policies/paper_policies.hpp>
#include <atelier/planning/comparisons.hpp>

#include <utility>

namespace atelier::papers {

const planning::policy_list& paper_policies() {
  static const auto& all = *new planning::policy_list{[] {
    planning::policy_list made;
    for (auto& rules : argus_comparisons())
      made.push_back(std::make_shared<argus_comparison>(std::move(rules)));
    for (auto& rules : diffserve_comparisons())
      made.push_back(std::make_shared<diffserve_comparison>(std::move(rules)));
    for (auto& rules : instgenie_comparisons())
      made.push_back(std::make_shared<instgenie_comparison>(std::move(rules)));
    made.push_back(std::make_shared<modm_cache_large>());
    planning::policy_list sorted;
    for (const auto& row : planning::policy_rows())
      for (const auto& x : made)
        if (x->name() == row.name && planning::is_for_comparisons(row.name))
          sorted.push_back(x);
    return sorted;
  }()};
  return all;
}

} // namespace atelier::papers
