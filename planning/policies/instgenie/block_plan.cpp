// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/instgenie/block_plan.hpp>

#include <algorithm>

namespace atelier::planning::instgenie {

namespace {

// A pair that no other one beats, and its history.
struct state {
  double compute = 0;
  double load = 0;
  size_t before = 0;
  size_t option = 0;
};

// Keeps the pairs for which no other pair is at least as good in both values,
// by rising compute; if too many remain, it keeps evenly spaced ones.
void keep_front(std::vector<state>& states, size_t most) {
  std::sort(states.begin(), states.end(), [](const state& a, const state& b) {
    return a.compute != b.compute ? a.compute < b.compute : a.load < b.load;
  });
  size_t kept = 0;
  for (const state& s : states)
    if (kept == 0 || s.load < states[kept - 1].load)
      states[kept++] = s;
  states.resize(kept);
  if (most == 0 || kept <= most)
    return;
  std::vector<state> thinned;
  for (size_t i = 0; i < most; ++i)
    thinned.push_back(states[most > 1 ? i * (kept - 1) / (most - 1) : 0]);
  states = std::move(thinned);
}

bool cached_last(const std::vector<char>& cached, size_t i, needed_by rule) {
  return rule == needed_by::next_block_blended && i + 1 == cached.size();
}

} // namespace

double step_seconds(std::span<const block_cost> blocks,
                    const std::vector<char>& cached, needed_by rule) {
  double compute = 0;
  double load = 0;
  bool waits = false;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (rule != needed_by::own_block && waits)
      compute = std::max(compute, load);
    waits = cached[i] != 0;
    if (!waits) {
      compute += blocks[i].full;
      continue;
    }
    if (cached_last(cached, i, rule))
      waits = false;
    else
      load += blocks[i].load;
    if (rule == needed_by::own_block)
      compute = std::max(compute, load);
    compute += blocks[i].cached;
  }
  return rule != needed_by::own_block && waits ? std::max(compute, load)
                                               : compute;
}

block_plan plan_greedy(std::span<const block_cost> blocks) {
  block_plan out;
  double compute = 0;
  double load = 0;
  for (const block_cost& b : blocks) {
    const double cached = std::max(load + b.load, compute) + b.cached;
    const bool use = cached <= compute + b.full;
    out.cached.push_back(use ? 1 : 0);
    if (use)
      load += b.load;
    compute = use ? cached : compute + b.full;
  }
  out.seconds = compute;
  return out;
}

block_plan plan_exact(std::span<const block_cost> blocks, needed_by rule,
                      size_t most_states) {
  const size_t n = blocks.size();
  block_plan best = plan_greedy(blocks);
  best.seconds = step_seconds(blocks, best.cached, rule);
  if (n == 0)
    return best;
  // The computation that remains whatever the plan.
  std::vector<double> rest(n + 1, 0.0);
  for (size_t i = n; i-- > 0;)
    rest[i] = rest[i + 1] + std::min(blocks[i].cached, blocks[i].full);
  // The states are separate by whether the previous block ran from its record.
  std::vector<std::vector<state>> full(n + 1);
  std::vector<std::vector<state>> cached(n + 1);
  full[0].push_back({});
  const bool own = rule == needed_by::own_block;
  for (size_t i = 0; i < n; ++i) {
    const block_cost& b = blocks[i];
    const bool blended = rule == needed_by::next_block_blended && i + 1 == n;
    const auto extend = [&](const std::vector<state>& from, bool after) {
      for (size_t k = 0; k < from.size(); ++k) {
        const state& s = from[k];
        const double start =
          !own && after ? std::max(s.compute, s.load) : s.compute;
        const size_t option = after ? 1 : 0;
        const double plain = start + b.full;
        if (plain + rest[i + 1] <= best.seconds)
          full[i + 1].push_back({plain, s.load, k, option});
        const double load = blended ? s.load : s.load + b.load;
        const double begin = own ? std::max(start, load) : start;
        const double used = begin + b.cached;
        if (used + rest[i + 1] <= best.seconds)
          (blended ? full : cached)[i + 1].push_back(
            {used, load, k, option | 2});
      }
    };
    extend(full[i], false);
    extend(cached[i], true);
    // If each block needs its own record, the two cases do not differ.
    if (own) {
      full[i + 1].insert(full[i + 1].end(), cached[i + 1].begin(),
                         cached[i + 1].end());
      cached[i + 1].clear();
    }
    keep_front(full[i + 1], most_states);
    keep_front(cached[i + 1], most_states);
  }
  const state* end = nullptr;
  double least = best.seconds;
  for (const state& s : full[n])
    if (s.compute < least) {
      least = s.compute;
      end = &s;
    }
  for (const state& s : cached[n])
    if (std::max(s.compute, s.load) < least) {
      least = std::max(s.compute, s.load);
      end = &s;
    }
  if (end == nullptr)
    return best;
  best.seconds = least;
  const bool last_cached = (end->option & 2) != 0;
  best.cached[n - 1] = last_cached ? 1 : 0;
  const state* at = end;
  for (size_t i = n - 1; i > 0; --i) {
    const bool after = (at->option & 1) != 0;
    at = after ? &cached[i][at->before] : &full[i][at->before];
    best.cached[i - 1] = (at->option & 2) != 0 ? 1 : 0;
  }
  return best;
}

double naive_seconds(std::span<const block_cost> blocks) {
  double sum = 0;
  for (const block_cost& b : blocks)
    sum += b.load + b.cached;
  return sum;
}

double ideal_seconds(std::span<const block_cost> blocks) {
  double sum = 0;
  for (const block_cost& b : blocks)
    sum += b.cached;
  return sum;
}

double equal_blocks_seconds(size_t n, const block_cost& each) {
  const auto all = static_cast<double>(n);
  double least = all * each.full;
  for (size_t k = 1; k <= n; ++k) {
    const auto c = static_cast<double>(k);
    least = std::min(least, std::max({(all - c) * each.full + c * each.cached,
                                      each.load + c * each.cached,
                                      c * each.load + each.cached}));
  }
  return least;
}

} // namespace atelier::planning::instgenie
