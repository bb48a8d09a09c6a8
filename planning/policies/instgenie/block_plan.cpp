// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/instgenie/block_plan.hpp>

#include <algorithm>
#include <limits>

namespace atelier::planning::instgenie {

namespace {

constexpr double never_ends = std::numeric_limits<double>::infinity();

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

block_plan plan_suffix(std::span<const block_cost> blocks) {
  block_plan best;
  best.seconds = never_ends;
  for (size_t first = 0; first <= blocks.size(); ++first) {
    std::vector<char> cached(blocks.size(), 0);
    std::fill(cached.begin() + static_cast<std::ptrdiff_t>(first), cached.end(),
              char{1});
    const double seconds = step_seconds(blocks, cached, needed_by::own_block);
    if (seconds < best.seconds)
      best = {std::move(cached), seconds};
  }
  return best;
}

option_plan plan_options(std::span<const std::vector<block_option>> blocks,
                         size_t most_states) {
  std::vector<std::vector<state>> fronts{{state{}}};
  for (const auto& options : blocks) {
    std::vector<state> next;
    const auto& from = fronts.back();
    for (size_t k = 0; k < from.size(); ++k)
      for (size_t o = 0; o < options.size(); ++o) {
        const double load = from[k].load + options[o].load;
        const double begin = options[o].load > 0
                             ? std::max(from[k].compute, load)
                             : from[k].compute;
        next.push_back({begin + options[o].compute, load, k, o});
      }
    keep_front(next, most_states);
    fronts.push_back(std::move(next));
  }
  option_plan out;
  // The front rises in compute: the first pair ends first.
  const state* at = &fronts.back().front();
  out.seconds = at->compute;
  out.chosen.assign(blocks.size(), 0);
  for (size_t i = blocks.size(); i > 0; --i) {
    out.chosen[i - 1] = at->option;
    at = &fronts[i - 1][at->before];
  }
  return out;
}

std::vector<block_option> member_options(
  const block_shape& block, std::span<const member_template> members,
  const estimator& by, recorded what) {
  std::vector<size_t> able;
  for (size_t r = 0; r < members.size(); ++r)
    if (!members[r].member.missing && members[r].member.ratio < 1)
      able.push_back(r);
  able.resize(std::min<size_t>(able.size(), 8));
  std::vector<state> all;
  for (size_t subset = 0; subset < (size_t{1} << able.size()); ++subset) {
    double operations =
      full_operations(block) * static_cast<double>(members.size());
    double bytes = 0;
    for (size_t a = 0; a < able.size(); ++a) {
      if ((subset >> a & 1) == 0)
        continue;
      const member_template& m = members[able[a]];
      operations +=
        masked_operations(block, m.member.ratio, what) - full_operations(block);
      // An earlier member with the same record has already loaded part of it;
      // masks of one template are assumed to be nested.
      double there = 0;
      for (size_t e = 0; e < a; ++e) {
        const member_template& other = members[able[e]];
        if ((subset >> e & 1) != 0 && other.template_id == m.template_id
            && other.step == m.step)
          there =
            std::max(there, loaded_bytes(block, other.member.ratio, what));
      }
      const double wanted =
        std::max(0.0, loaded_bytes(block, m.member.ratio, what) - there);
      bytes += wanted;
    }
    state s;
    s.compute = std::max(0.0, by.compute(operations));
    s.load = bytes > 0 ? std::max(0.0, by.load(bytes)) : 0;
    all.push_back(s);
  }
  keep_front(all, 0);
  std::vector<block_option> out;
  out.reserve(all.size());
  for (const state& s : all)
    out.push_back({s.compute, s.load});
  return out;
}

double naive_seconds(std::span<const block_cost> blocks) {
  double sum = 0;
  for (const block_cost& b : blocks)
    sum += b.load + b.cached;
  return sum;
}

double strawman_seconds(std::span<const block_cost> blocks) {
  return step_seconds(blocks, std::vector<char>(blocks.size(), 1),
                      needed_by::own_block);
}

double ideal_seconds(std::span<const block_cost> blocks) {
  double sum = 0;
  for (const block_cost& b : blocks)
    sum += b.cached;
  return sum;
}

double steady_seconds(std::span<const block_cost> blocks, size_t most_states) {
  std::vector<state> front{state{}};
  for (const block_cost& b : blocks) {
    std::vector<state> next;
    for (const state& s : front) {
      next.push_back({s.compute + b.full, s.load, 0, 0});
      next.push_back({s.compute + b.cached, s.load + b.load, 0, 0});
    }
    keep_front(next, most_states);
    front = std::move(next);
  }
  double least = plan_greedy(blocks).seconds;
  for (const state& s : front)
    least = std::min(least, std::max(s.compute, s.load));
  return least;
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
