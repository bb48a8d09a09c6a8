// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/policies/diffserve_allocations.hpp>
#include <atelier/bench/papers/policies/diffserve_comparisons.hpp>
#include <atelier/planning/policies/diffserve/diffserve_memory.hpp>
#include <atelier/planning/random_judge.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::papers {

namespace {

using planning::cascade_case;
using planning::cascade_profile;
using planning::diffserve_memory;
using planning::diffserve::cascade_plan;
using planning::diffserve::cascade_problem;
using rule = diffserve_comparison_rules::allocation_rule;
using queueing_rule = diffserve_comparison_rules::queueing_rule;
namespace diffserve = planning::diffserve;

bool is_once(rule r) {
  return r == rule::once || r == rule::once_for_peak;
}

// Returns whether a plan changes only after the load is known.
bool waits_for_load(rule r) {
  return r == rule::cascade || r == rule::random;
}

size_t threshold_index(double threshold) {
  return static_cast<size_t>(
    std::lround(threshold * static_cast<double>(diffserve::thresholds - 1)));
}

// Scales a plan that was made for another number of workers, in the same
// proportion.
cascade_plan scaled_to(const planning::fixed_cascade& of,
                       const cascade_problem& p) {
  const double light =
    static_cast<double>(of.light) / static_cast<double>(of.light + of.heavy);
  cascade_plan out;
  out.threshold = threshold_index(of.threshold);
  out.deferred = p.deferred[out.threshold];
  out.light = std::clamp(static_cast<uint32_t>(std::lround(light * p.workers)),
                         1u, p.workers);
  out.heavy = p.workers - out.light;
  out.light_batch = of.light_batch;
  out.heavy_batch = of.heavy_batch;
  return out;
}

core::result<cascade_plan> for_all_time(const diffserve_comparison_rules& rules,
                                        const cascade_case& x) {
  const cascade_profile& c = x.cascade;
  if (rules.allocate != rule::once_for_peak && c.fixed)
    return scaled_to(*c.fixed, x.problem);
  return allocate_for_peak(x.problem, c.peak_rate > 0
                                        ? c.peak_rate * rules.provisioning
                                        : x.problem.demand);
}

// Sets the batches that were found by trial so far.
void try_batches(const diffserve_comparison_rules& rules, cascade_case& x,
                 diffserve_memory& memory) {
  cascade_problem& problem = x.problem;
  if (memory.decided && x.fresh) {
    // Sizes that left no time for the heavy leg were too large.
    const bool halves =
      x.late || (rules.allocate == rule::cascade && memory.decided->heavy == 0);
    memory.light = with_period(memory.light, problem.light, halves);
    memory.heavy = with_period(memory.heavy, problem.heavy, halves);
  }
  problem.light_batch = memory.light.batch;
  problem.heavy_batch = memory.heavy.batch;
}

void count_waits(const diffserve_comparison_rules& rules,
                 cascade_problem& problem) {
  if (rules.queueing == queueing_rule::little)
    return;
  if (rules.queueing == queueing_rule::doubled)
    problem.execution_factor = 2;
  problem.wait_light = problem.wait_heavy = 0;
}

} // namespace

std::string diffserve_comparison::judge_of(const cascade_profile& of) const {
  return own_.judge.empty() ? diffserve_policy::judge_of(of) : own_.judge;
}

// For a judge that draws its scores, this is the threshold itself; for another
// judge than the table's, only what was measured counts.
diffserve::deferral_profile diffserve_comparison::deferral(
  const cascade_profile& of, const diffserve::deferral_counts& seen) const {
  if (own_.judge == planning::random_judge) {
    diffserve::deferral_profile f{};
    for (size_t k = 0; k < f.size(); ++k)
      f[k] = diffserve::threshold_at(k);
    return f;
  }
  return own_.judge.empty() || own_.judge == of.judge
         ? diffserve_policy::deferral(of, seen)
         : diffserve::blended(nullptr, seen);
}

core::result<cascade_plan> diffserve_comparison::decide(
  const cascade_case& x, diffserve_memory& memory) const {
  cascade_case tried = x;
  if (own_.trial_batches)
    try_batches(own_, tried, memory);
  auto found = diffserve_policy::decide(tried, memory);
  if (found && x.rate > 0 && !waits_for_load(own_.allocate))
    memory.decided = *found;
  return found;
}

core::result<cascade_plan> diffserve_comparison::planned(
  const cascade_case& x, diffserve_memory& memory) const {
  const auto& old = memory.decided;
  if (is_once(own_.allocate) && old
      && old->light + old->heavy == x.problem.workers)
    return *old;
  cascade_case waits = x;
  count_waits(own_, waits.problem);
  switch (own_.allocate) {
    case rule::cascade:
      break;
    case rule::once:
    case rule::once_for_peak:
      return for_all_time(own_, waits);
    case rule::fixed_threshold: {
      const auto first =
        old ? core::result<cascade_plan>{*old} : for_all_time(own_, waits);
      if (!first)
        return first;
      waits.problem.threshold = first->threshold;
      break;
    }
    case rule::all_light:
    case rule::all_heavy: {
      const bool heavy = own_.allocate == rule::all_heavy;
      const auto& batch =
        heavy ? waits.problem.heavy_batch : waits.problem.light_batch;
      return allocate_single(waits.problem, heavy, batch.value_or(1));
    }
    case rule::random:
      return settled(allocate_random, waits, memory);
  }
  return diffserve_policy::planned(waits, memory);
}

planning::cascade_shares diffserve_comparison::shares_of(
  const cascade_plan& p) const {
  if (own_.allocate == rule::random)
    return {1 - p.deferred, p.deferred, 0};
  return diffserve_policy::shares_of(p);
}

bool diffserve_comparison::tells_feasibility() const {
  return own_.allocate == rule::cascade;
}

std::vector<diffserve_comparison_rules> diffserve_comparisons() {
  diffserve_comparison_rules paper;
  for (const auto& rules : planning::all_diffserve_rules())
    if (rules.name == "diffserve-paper")
      static_cast<planning::diffserve_rules&>(paper) = rules;

  struct row {
    const char* name;
    rule allocate;
    queueing_rule queueing;
    std::string_view judge;
    bool trial_batches;
  };
  using enum rule;
  using enum queueing_rule;
  constexpr row rows[] = {
    {"diffserve-static", once, little, "", false},
    {"diffserve-peak", once_for_peak, little, "", false},
    {"diffserve-proteus", random, little, "", false},
    {"random-cascade", cascade, little, planning::random_judge, false},
    {"score-cascade", cascade, little, "pickscore", false},
    {"clip-cascade", cascade, little, "clipscore", false},
    {"static-threshold", fixed_threshold, little, "", false},
    {"no-queueing", cascade, doubled, "", false},
    {"no-waits", cascade, ignored, "", false},
    {"aimd", cascade, little, "", true},
    {"light-aimd", all_light, little, "", true},
    {"heavy-aimd", all_heavy, little, "", true}};
  std::vector<diffserve_comparison_rules> all;
  for (const row& x : rows) {
    auto& rules = all.emplace_back(paper);
    rules.name = x.name;
    rules.allocate = x.allocate;
    rules.queueing = x.queueing;
    rules.judge = x.judge;
    rules.trial_batches = x.trial_batches;
    // Batches found by trial are occasionally too large for a period, and the
    // workers must follow them.
    rules.settles = !x.trial_batches;
  }
  return all;
}

} // namespace atelier::papers
