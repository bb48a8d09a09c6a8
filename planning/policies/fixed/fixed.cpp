// SPDX-License-Identifier: Apache-2.0
// needs:  those of the policy that made the plan
// routes: the plan's
// queues: as that policy
// take:   as that policy
// memory: the plan's
#include <atelier/planning/hosting_rules.hpp>
#include <atelier/planning/policies/fixed/fixed.hpp>
#include <atelier/planning/solver/match_workers.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace atelier::planning {

namespace {

/// Returns whether the worker's last assignment is the same.
bool same(const assignment& a, const worker_group& g) {
  return a.hosting == g.hosting && a.batch == g.batch && a.level == g.level
      && a.join == g.join && a.batch_time == g.batch_time;
}

void tell(assignment& a, const worker_group& g) {
  a.hosting = g.hosting;
  a.batch = g.batch;
  a.level = g.level;
  a.join = g.join;
  a.batch_time = g.batch_time;
  for (const auto v : g.also_serves)
    a.also_serves.push_back(queue_of(v));
}

} // namespace

std::vector<uint32_t> workers_by_group(const saved_plan& of, size_t there) {
  const auto& groups = of.workers;
  std::vector<uint32_t> out(groups.size(), 0);
  if (groups.empty())
    return out;
  double planned = 0;
  for (const auto& g : groups)
    planned += g.count;
  std::vector<double> quota;
  const uint32_t least = there >= groups.size() ? 1 : 0;
  size_t given = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    quota.push_back(static_cast<double>(there) * groups[i].count / planned);
    out[i] = std::max(least, static_cast<uint32_t>(quota[i]));
    given += out[i];
  }
  const auto missing = [&](size_t i) {
    return quota[i] - static_cast<double>(out[i]);
  };
  for (; given < there; ++given) {
    size_t most = 0;
    for (size_t i = 1; i < out.size(); ++i)
      if (missing(i) > missing(most))
        most = i;
    ++out[most];
  }
  for (; given > there; --given) {
    std::optional<size_t> most;
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i] > least && (!most || missing(i) < missing(*most)))
        most = i;
    --out[*most];
  }
  return out;
}

fixed_policy::fixed_policy(saved_plan what, policy_ptr rules, std::string name,
                           policy_ptr remembers)
  : what_(std::move(what)),
    rules_(std::move(rules)),
    remembers_(remembers ? std::move(remembers) : rules_),
    name_(std::move(name)) {}

plan fixed_policy::replan(const demand&, const profile& known,
                          const cluster_view& there,
                          const plan& previous) const {
  plan next;
  next.version = previous.version + 1;
  next.routes = what_.routes;
  next.share = what_.share;
  next.thresholds = what_.thresholds;
  next.admitted_rates = what_.admitted_rates;
  next.saturated = what_.saturated;
  next.retry_after = what_.retry_after;
  next.memory = what_.memory;
  auto left = workers_by_group(what_, there.workers.size());
  // Workers that already match a group continue; the others are assigned with
  // the fewest changes.
  const auto before = places_in(previous);
  std::vector<worker_view> free;
  std::vector<size_t> at;
  for (const worker_view& w : there.workers) {
    assignment a;
    a.worker = w.worker;
    a.batch = std::max(w.max_batch, 1u);
    size_t g = left.size();
    if (const auto i = before.find(w.worker); i != before.end())
      for (g = 0; g < left.size(); ++g)
        if (left[g] > 0 && same(previous.workers[i->second], what_.workers[g]))
          break;
    if (g < left.size()) {
      --left[g];
      tell(a, what_.workers[g]);
    } else {
      free.push_back(w);
      at.push_back(next.workers.size());
    }
    next.workers.push_back(std::move(a));
  }
  std::vector<hosting_target> targets;
  for (size_t g = 0; g < left.size(); ++g)
    targets.push_back({what_.workers[g].hosting, left[g], {}});
  const auto found = match_workers(free, targets, known);
  for (size_t i = 0; i < free.size(); ++i)
    if (found.target[i])
      tell(next.workers[at[i]], what_.workers[*found.target[i]]);
  return next;
}

choice fixed_policy::choose(const decision_context& by) const {
  return rules_->choose(by);
}

core::queue_id fixed_policy::place(const leg& next,
                                   const decision_context& by) const {
  return rules_->place(next, by);
}

taken fixed_policy::take(const worker_view& worker,
                         std::span<const waiting> queue, const plan& in_force,
                         core::time_point now) const {
  return rules_->take(worker, queue, in_force, now);
}

core::class_id fixed_policy::admission_class(const core::request& wanted,
                                             const facts& known,
                                             const profile& costs,
                                             const plan& in_force) const {
  return remembers_->admission_class(wanted, known, costs, in_force);
}

plan_reasons fixed_policy::explain(const plan& made) const {
  return remembers_->explain(made);
}

compared fixed_policy::compares(const profile& known) const {
  return rules_->compares(known);
}

std::optional<assumed_thresholds> fixed_policy::assumes(
  const profile& known) const {
  return rules_->assumes(known);
}

core::result<policy_ptr> make_fixed(std::string_view json,
                                    std::string_view where,
                                    const profile& known, std::string name,
                                    const policy_list& more) {
  auto what = parse_plan(json, where, known, more);
  if (!what)
    return what.why();
  auto rules = make_policy(what->policy, more);
  if (!rules)
    return rules.why();
  auto remembers =
    what->memory ? policy_remembering(what->memory.of(), more) : nullptr;
  return policy_ptr{
    std::make_shared<fixed_policy>(std::move(*what), std::move(*rules),
                                   std::move(name), std::move(remembers))};
}

} // namespace atelier::planning
