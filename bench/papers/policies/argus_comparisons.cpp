// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/policies/argus_allocations.hpp>
#include <atelier/bench/papers/policies/argus_comparisons.hpp>

#include <algorithm>

namespace atelier::papers {

namespace {

using planning::ladder_kind;
using planning::ladder_profile;
using planning::profile;
using workers_rule = argus_comparison_rules::workers_rule;
using classes_rule = argus_comparison_rules::classes_rule;
namespace argus = planning::argus;

bool has_levels(const profile& known, ladder_kind kind) {
  const auto found =
    std::ranges::find(known.ladders, kind, &ladder_profile::kind);
  return found != known.ladders.end() && !found->levels.empty();
}

// Returns the profile with a ladder of that kind that has no level. The other
// ladders keep their indices.
profile without_levels(profile known, ladder_kind kind) {
  const auto found =
    std::ranges::find(known.ladders, kind, &ladder_profile::kind);
  if (found != known.ladders.end()) {
    found->levels.clear();
    return known;
  }
  ladder_profile none;
  none.kind = kind;
  known.ladders.push_back(std::move(none));
  return known;
}

} // namespace

planning::plan argus_comparison::replan(const planning::demand& asked,
                                        const profile& known,
                                        const planning::cluster_view& there,
                                        const planning::plan& previous) const {
  if (!own_.latents)
    return argus_policy::replan(
      asked, without_levels(known, ladder_kind::cached_latents), there,
      previous);
  if (!own_.changes && has_levels(known, ladder_kind::cached_latents))
    return argus_policy::replan(
      asked, without_levels(known, ladder_kind::smaller_models), there,
      previous);
  return argus_policy::replan(asked, known, there, previous);
}

planning::choice argus_comparison::choose(
  const planning::decision_context& by) const {
  if (own_.classes != classes_rule::by_load)
    return argus_policy::choose(by);
  // All classes have the same shares.
  auto unpredicted = by.known;
  unpredicted.tolerated.emplace();
  return argus_policy::choose(
    {by.wanted, unpredicted, by.costs, by.in_force, by.there, by.random});
}

planning::compared argus_comparison::compares(const profile& known) const {
  return own_.latents ? argus_policy::compares(known)
                      : planning::compared::nothing;
}

bool argus_comparison::plan_due(
  const planning::plan& in_force,
  std::span<const planning::retrieval_sample> last) const {
  return own_.changes && own_.latents && argus_policy::plan_due(in_force, last);
}

core::result<argus::allocation> argus_comparison::allocate(
  const argus::ladder& levels, const argus::load_to_place& asked,
  bool pools) const {
  switch (own_.workers) {
    case workers_rule::planned:
      break;
    case workers_rule::alone:
      return allocate_alone(levels, asked);
    case workers_rule::first:
      return allocate_fixed(levels, asked, 0);
    case workers_rule::last:
      return allocate_fixed(levels, asked,
                            static_cast<uint32_t>(levels.size() - 1));
  }
  return argus_policy::allocate(levels, asked, pools);
}

argus::shift_map argus_comparison::shifted(
  std::span<const double> classes, std::span<const double> share,
  const planning::table& degradation) const {
  if (own_.classes == classes_rule::shifted)
    return argus_policy::shifted(classes, share, degradation);
  argus::shift_map map{share.size(), share.size()};
  for (size_t c = 0; c < share.size(); ++c)
    if (own_.classes == classes_rule::none)
      map.at(c, c) = 1;
    else
      for (size_t v = 0; v < share.size(); ++v)
        map.at(c, v) = share[v];
  return map;
}

size_t argus_comparison::pick(std::span<const argus::candidate> candidates,
                              uint32_t level, core::philox& random) const {
  if (!own_.any_worker)
    return argus_policy::pick(candidates, level, random);
  // All workers of the level have the same probability; if it has none, all
  // workers do.
  std::vector<size_t> same;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].level == level)
      same.push_back(i);
  return same.empty() ? random.below(candidates.size())
                      : same[random.below(same.size())];
}

std::vector<argus_comparison_rules> argus_comparisons() {
  argus_comparison_rules paper;
  for (const auto& rules : planning::all_argus_rules())
    if (rules.name == "argus-paper")
      static_cast<planning::argus_rules&>(paper) = rules;
  paper.settles = true;

  struct row {
    const char* name;
    workers_rule workers;
    classes_rule classes;
    bool latents;
    bool changes;
    bool any_worker;
  };
  using enum workers_rule;
  using enum classes_rule;
  constexpr row rows[] = {
    {"pac", planned, by_load, true, true, true},
    {"proteus", planned, by_load, false, true, true},
    {"sommelier", alone, by_load, false, true, true},
    {"clipper-heavy", first, by_load, false, true, false},
    {"clipper-light", last, by_load, false, true, false},
    {"argus-no-classifier", planned, by_load, true, true, false},
    {"argus-no-shift", planned, none, true, true, false},
    {"argus-no-switch", planned, shifted, true, false, false}};
  std::vector<argus_comparison_rules> all;
  for (const row& x : rows) {
    auto& rules = all.emplace_back(paper);
    rules.name = x.name;
    rules.workers = x.workers;
    rules.classes = x.classes;
    rules.latents = x.latents;
    rules.changes = x.changes;
    rules.any_worker = x.any_worker;
  }
  return all;
}

} // namespace atelier::papers
