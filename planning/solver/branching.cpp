// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/solver/branching.hpp>
#include <atelier/planning/solver/detail/lp_library.hpp>
#include <atelier/planning/solver/tolerance.hpp>

#include <cmath>
#include <vector>

namespace atelier::planning {

namespace {

// A value farther from whole than this counts as fractional.
constexpr double whole_enough = 1e-6;

struct part {
  std::vector<double> least;
  std::vector<double> most;
};

part all_of(const linear_program& p) {
  part out;
  for (const lp_column& c : p.columns) {
    out.least.push_back(c.whole ? std::ceil(c.least) : c.least);
    out.most.push_back(c.whole ? std::floor(c.most) : c.most);
  }
  return out;
}

bool empty(const part& x) {
  for (size_t i = 0; i < x.least.size(); ++i)
    if (x.least[i] > x.most[i])
      return true;
  return false;
}

// Returns the whole column whose value is farthest from whole, if any is
// fractional.
std::optional<size_t> most_broken(const linear_program& p,
                                  const std::vector<double>& values) {
  std::optional<size_t> at;
  double worst = whole_enough;
  for (size_t i = 0; i < values.size(); ++i) {
    const double off = std::abs(values[i] - std::round(values[i]));
    if (p.columns[i].whole && off > worst) {
      worst = off;
      at = i;
    }
  }
  return at;
}

} // namespace

branching search_whole(const linear_program& p,
                       const std::optional<double>& known,
                       const lp_limits& limits) {
  branching out;
  out.complete = true;
  std::optional<double> best = known;
  detail::relaxation relaxed{p};
  std::vector<part> open{all_of(p)};
  while (!open.empty()) {
    lp_limits left = limits;
    if (limits.effort != 0) {
      if (out.effort >= limits.effort) {
        out.complete = false;
        return out;
      }
      left.effort = limits.effort - out.effort;
    }
    part here = std::move(open.back());
    open.pop_back();
    if (empty(here))
      continue;
    auto at = relaxed.solve(here.least, here.most, left);
    if (!at) {
      out.complete = false;
      continue;
    }
    out.effort += at->effort;
    if (at->status == lp_status::infeasible)
      continue;
    if (at->status != lp_status::optimal) {
      out.complete = false;
      continue;
    }
    if (best && !is_better(p, at->objective, *best))
      continue;
    const auto broken = most_broken(p, at->values);
    if (!broken) {
      round_whole(p, *at);
      if (worst_violation(p, at->values) > allowed_violation) {
        out.complete = false;
        continue;
      }
      best = at->objective;
      out.better = std::move(*at);
      continue;
    }
    const double value = at->values[*broken];
    part below = here;
    below.most[*broken] = std::floor(value);
    part above = std::move(here);
    above.least[*broken] = std::floor(value) + 1;
    const bool above_is_nearer = value - std::floor(value) > 0.5;
    open.push_back(above_is_nearer ? below : above);
    open.push_back(above_is_nearer ? std::move(above) : std::move(below));
  }
  return out;
}

} // namespace atelier::planning
