// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/diffserve/stages.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atelier::planning::diffserve {

namespace {

using core::ec;

core::result<void> sound(const stages_problem& asked) {
  const size_t legs = asked.legs.size();
  if (legs == 0 || asked.gates.size() + 1 != legs || asked.waits.size() != legs)
    return core::fail(ec::invalid_argument,
                      "{} legs, {} gates and {} waits do not fit together",
                      legs, asked.gates.size(), asked.waits.size());
  for (const auto& kinds : asked.legs)
    if (kinds.size() != asked.workers.size())
      return core::fail(ec::invalid_argument,
                        "a leg has {} kinds of device of {}", kinds.size(),
                        asked.workers.size());
  for (const auto& gate : asked.gates)
    if (gate.empty())
      return core::fail(ec::invalid_argument, "a gate has no threshold");
  if (!(asked.demand >= 0) || !std::isfinite(asked.demand))
    return core::fail(ec::invalid_argument, "the demand {} is not a number",
                      asked.demand);
  return {};
}

struct choice_of_batch {
  size_t leg;
  size_t kind;
  uint32_t batch;
  lp_column_id chosen;
  lp_column_id workers;
};

} // namespace

core::result<stages_plan> allocate_stages(const stages_problem& asked,
                                          const lp_limits& limits) {
  if (auto ok = sound(asked); !ok)
    return std::move(ok).why();
  const size_t legs = asked.legs.size();
  const double waits =
    std::accumulate(asked.waits.begin(), asked.waits.end(), 0.0);
  linear_program p;
  lp_row in_time{"deadline", {}, lp_relation::at_most, asked.slo - waits};
  std::vector<lp_row> members;
  for (size_t d = 0; d < asked.workers.size(); ++d)
    members.push_back({fmt::format("workers of kind {}", d),
                       {},
                       lp_relation::at_most,
                       static_cast<double>(asked.workers[d])});
  std::vector<choice_of_batch> sizes;
  std::vector<std::vector<lp_column_id>> passes(legs);
  std::vector<std::vector<lp_column_id>> flows(legs);
  for (size_t i = 0; i < legs; ++i) {
    const auto time = p.add(lp_column{fmt::format("time of leg {}", i)});
    in_time.terms.push_back({time, 1});
    // The requests that reach the leg: the demand, or those that the previous
    // gate defers.
    lp_row serves{fmt::format("leg {} serves", i),
                  {},
                  lp_relation::at_least,
                  i == 0 ? asked.demand : 0};
    if (i > 0)
      for (size_t k = 0; k < asked.gates[i - 1].size(); ++k)
        serves.terms.push_back(
          {flows[i - 1][k], -asked.gates[i - 1][k].second});
    for (size_t d = 0; d < asked.workers.size(); ++d) {
      const double all = asked.workers[d];
      lp_row one{fmt::format("one batch of leg {} on kind {}", i, d),
                 {},
                 lp_relation::at_most,
                 1};
      for (const batch_time& b : asked.legs[i][d].batches) {
        const auto y = p.add(lp_column{"batch", 0, 0, 1, true});
        const auto w = p.add(lp_column{"workers", 0, 0, all, true});
        p.add(lp_row{"workers of the batch",
                     {{w, 1}, {y, -all}},
                     lp_relation::at_most,
                     0});
        p.add(lp_row{"time of the batch",
                     {{time, 1}, {y, -b.seconds}},
                     lp_relation::at_least,
                     0});
        one.terms.push_back({y, 1});
        members[d].terms.push_back({w, 1});
        serves.terms.push_back({w, b.batch / b.seconds});
        sizes.push_back({i, d, b.batch, y, w});
      }
      p.add(std::move(one));
    }
    if (i + 1 < legs) {
      lp_row one{
        fmt::format("one threshold of gate {}", i), {}, lp_relation::equal, 1};
      lp_row all{fmt::format("flow of gate {}", i),
                 {},
                 lp_relation::equal,
                 i == 0 ? asked.demand : 0};
      if (i > 0)
        for (size_t k = 0; k < asked.gates[i - 1].size(); ++k)
          all.terms.push_back({flows[i - 1][k], -asked.gates[i - 1][k].second});
      for (const auto& [threshold, share] : asked.gates[i]) {
        const auto u = p.add(lp_column{"threshold", threshold, 0, 1, true});
        const auto v = p.add(lp_column{"flow"});
        passes[i].push_back(u);
        flows[i].push_back(v);
        one.terms.push_back({u, 1});
        all.terms.push_back({v, 1});
        p.add(lp_row{"flow of the threshold",
                     {{v, 1}, {u, -asked.demand}},
                     lp_relation::at_most,
                     0});
      }
      p.add(std::move(one));
      p.add(std::move(all));
    }
    p.add(std::move(serves));
  }
  for (lp_row& r : members)
    p.add(std::move(r));
  p.add(std::move(in_time));
  const auto found = solve(p, limits);
  if (!found)
    return found.why();
  if (!found->has_values())
    return core::fail(ec::unavailable, "no allocation: the solver says {}",
                      to_string(found->status));
  const auto& x = found->values;
  stages_plan out;
  out.sum = found->objective;
  out.load.assign(legs, asked.demand);
  for (size_t i = 0; i + 1 < legs; ++i) {
    size_t chosen = 0;
    for (size_t k = 0; k < passes[i].size(); ++k)
      if (x[passes[i][k].value] > 0.5)
        chosen = k;
    out.threshold.push_back(chosen);
    out.load[i + 1] = out.load[i] * asked.gates[i][chosen].second;
  }
  const std::vector<uint32_t> none(asked.workers.size(), 0);
  out.workers.assign(legs, none);
  out.batch.assign(legs, none);
  for (const choice_of_batch& s : sizes) {
    const auto n = static_cast<uint32_t>(std::lround(x[s.workers.value]));
    if (n == 0)
      continue;
    out.workers[s.leg][s.kind] = n;
    out.batch[s.leg][s.kind] = s.batch;
  }
  return out;
}

} // namespace atelier::planning::diffserve
