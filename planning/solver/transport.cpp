// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/solver/transport.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace atelier::planning {

namespace {

constexpr double unreached = std::numeric_limits<double>::infinity();
constexpr size_t nowhere = std::numeric_limits<size_t>::max();

using flows = std::vector<std::vector<int64_t>>;

// Finds one cheapest path after another. Potentials keep every cost on the path
// at 0 or above, so that Dijkstra's dense form finds it.
class cheapest_paths {
public:
  cheapest_paths(std::span<const int64_t> supply, std::span<const int64_t> need,
                 const table& costs)
    : costs_(costs),
      left_(supply.begin(), supply.end()),
      room_(need.begin(), need.end()),
      flow_(supply.size(), std::vector<int64_t>(need.size(), 0)),
      high_(supply.size(), 0.0),
      low_(need.size(), 0.0) {
    // The first potential makes all costs non-negative.
    for (size_t j = 0; j < room_.size(); ++j) {
      double least = unreached;
      for (size_t i = 0; i < left_.size(); ++i)
        least = std::min(least, costs_.at(i, j));
      low_[j] = std::isinf(least) ? 0 : least;
    }
  }

  flows run() {
    while (step()) {
    }
    return std::move(flow_);
  }

private:
  double reduced(size_t i, size_t j) const {
    return std::max(0.0, costs_.at(i, j) + high_[i] - low_[j]);
  }

  bool step() {
    const size_t sources = left_.size();
    const size_t sinks = room_.size();
    std::vector<double> at_source(sources, unreached);
    std::vector<double> at_sink(sinks, unreached);
    std::vector<size_t> from_source(sinks, nowhere);
    std::vector<size_t> from_sink(sources, nowhere);
    std::vector<char> done_source(sources, 0);
    std::vector<char> done_sink(sinks, 0);
    for (size_t i = 0; i < sources; ++i)
      if (left_[i] > 0)
        at_source[i] = 0;
    size_t target = nowhere;
    for (;;) {
      size_t best = nowhere;
      bool is_sink = false;
      double near = unreached;
      for (size_t j = 0; j < sinks; ++j)
        if (done_sink[j] == 0 && at_sink[j] < near) {
          near = at_sink[j];
          best = j;
          is_sink = true;
        }
      for (size_t i = 0; i < sources; ++i)
        if (done_source[i] == 0 && at_source[i] < near) {
          near = at_source[i];
          best = i;
          is_sink = false;
        }
      if (best == nowhere)
        break;
      if (is_sink) {
        done_sink[best] = 1;
        if (room_[best] > 0) {
          target = best;
          break;
        }
        for (size_t i = 0; i < sources; ++i)
          // Against the direction of flow, the reduced cost is 0 except for
          // rounding.
          if (flow_[i][best] > 0 && near < at_source[i]) {
            at_source[i] = near;
            from_sink[i] = best;
          }
      } else {
        done_source[best] = 1;
        for (size_t j = 0; j < sinks; ++j)
          if (!std::isinf(costs_.at(best, j))
              && near + reduced(best, j) < at_sink[j]) {
            at_sink[j] = near + reduced(best, j);
            from_source[j] = best;
          }
      }
    }
    if (target == nowhere)
      return false;
    const double length = at_sink[target];
    for (size_t i = 0; i < sources; ++i)
      high_[i] += std::min(at_source[i], length);
    for (size_t j = 0; j < sinks; ++j)
      low_[j] += std::min(at_sink[j], length);
    push(target, from_source, from_sink);
    return true;
  }

  void push(size_t target, const std::vector<size_t>& from_source,
            const std::vector<size_t>& from_sink) {
    int64_t most = room_[target];
    size_t j = target;
    size_t i = from_source[j];
    while (from_sink[i] != nowhere) {
      j = from_sink[i];
      most = std::min(most, flow_[i][j]);
      i = from_source[j];
    }
    most = std::min(most, left_[i]);
    left_[i] -= most;
    room_[target] -= most;
    j = target;
    for (;;) {
      i = from_source[j];
      flow_[i][j] += most;
      if (from_sink[i] == nowhere)
        break;
      j = from_sink[i];
      flow_[i][j] -= most;
    }
  }

  const table& costs_;
  std::vector<int64_t> left_;
  std::vector<int64_t> room_;
  flows flow_;
  std::vector<double> high_;
  std::vector<double> low_;
};

// Returns whole units for fractions, by largest remainders, so that the sum is
// exact.
std::vector<int64_t> units_of(std::span<const double> shares, int64_t total) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<int64_t> out(shares.size(), 0);
  if (!(sum > 0))
    return out;
  std::vector<std::pair<double, size_t>> rest;
  int64_t given = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    const double exact = shares[i] / sum * static_cast<double>(total);
    out[i] = static_cast<int64_t>(std::floor(exact));
    given += out[i];
    rest.emplace_back(static_cast<double>(out[i]) - exact, i);
  }
  std::sort(rest.begin(), rest.end());
  for (size_t k = 0; given != total && k < rest.size(); ++k) {
    const int64_t step = given < total ? 1 : -1;
    out[rest[k].second] += step;
    given += step;
  }
  return out;
}

} // namespace

flows transport(std::span<const int64_t> supply, std::span<const int64_t> need,
                const table& costs) {
  ATELIER_EXPECTS(costs.rows == supply.size() && costs.columns == need.size(),
                  "a cost for each pair");
  return cheapest_paths{supply, need, costs}.run();
}

table transport_shares(std::span<const double> supply,
                       std::span<const double> need, const table& costs) {
  // This is exact in a double, and a thousand times finer than the documented
  // precision.
  constexpr int64_t total = int64_t{1} << 50;
  const double sum = std::accumulate(supply.begin(), supply.end(), 0.0);
  table out{supply.size(), need.size()};
  const auto from = units_of(supply, total);
  const auto to = units_of(need, total);
  const auto moved = transport(from, to, costs);
  for (size_t i = 0; i < supply.size(); ++i)
    for (size_t j = 0; j < need.size(); ++j)
      out.at(i, j) =
        static_cast<double>(moved[i][j]) / static_cast<double>(total) * sum;
  return out;
}

} // namespace atelier::planning
