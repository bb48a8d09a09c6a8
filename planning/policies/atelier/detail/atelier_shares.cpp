// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/atelier/detail/atelier_shares.hpp>

#include <algorithm>
#include <numeric>

namespace atelier::planning::detail {

namespace {

using unified::decision;
using unified::offers;

// Returns the column of a class without planned requests. If the class has no
// demand, the value at the prices of devices decides; if all of it is refused,
// the column with the lowest cost serves the requests that arrive all the same.
const unified::column* usual_column(const offers& o, const decision& d,
                                    size_t of) {
  const bool asked_for = o.asked.classes[of].rate > 0;
  const unified::column* best = nullptr;
  double most = 0;
  for (const unified::column& c : o.asked.columns) {
    if (c.of != of)
      continue;
    double worth = asked_for ? 0 : c.quality;
    bool runs = true;
    for (const unified::pool_work& w : c.works()) {
      worth -= w.seconds * (asked_for ? 1 : d.price[w.pool]);
      runs = runs && d.count[w.pool] > 0;
    }
    if (runs && (best == nullptr || worth > most)) {
      best = &c;
      most = worth;
    }
  }
  return best;
}

} // namespace

void write_shares(plan& next, const offers& o, const decision& d,
                  bool known_enough, unified_memory& memory) {
  next.share.assign(o.asked.classes.size(),
                    std::vector<double>(next.routes.size(), 0.0));
  std::vector<double> sum(o.asked.classes.size(), 0.0);
  for (size_t i = 0; i < o.asked.columns.size(); ++i) {
    const unified::column& c = o.asked.columns[i];
    next.share[c.of][memory.first_route + c.key] += d.taken[i];
    sum[c.of] += d.taken[i];
  }
  for (size_t k = 0; k < sum.size(); ++k) {
    auto& row = next.share[k];
    if (sum[k] > no_rate * o.asked.classes[k].rate && sum[k] > 0) {
      for (double& x : row)
        x /= sum[k];
      continue;
    }
    std::fill(row.begin(), row.end(), 0.0);
    const auto* usual = usual_column(o, d, k);
    row[usual != nullptr ? memory.first_route + usual->key : 0] = 1;
  }
  const auto& map = memory.classes;
  memory.searches.assign(map.labels, known_enough ? 0 : 1);
  for (size_t i = 0; i < map.of.size(); ++i)
    for (size_t r = 0; r < o.reuses.size(); ++r)
      if (o.reuses[r] != 0 && next.share[map.of[i]][memory.first_route + r] > 0)
        memory.searches[i / map.skips.size()] = 1;
  // Averages over all possible matches by their frequency, without the routes
  // that need a known match.
  memory.blind.assign(map.labels, std::vector<double>(next.routes.size(), 0.0));
  for (size_t label = 0; label < map.labels; ++label) {
    auto& row = memory.blind[label];
    for (size_t skip = 0; skip < map.skips.size(); ++skip) {
      const uint32_t k = map.of[label * map.skips.size() + skip];
      for (size_t r = 0; r < o.reuses.size(); ++r)
        if (o.reuses[r] == 0)
          row[memory.first_route + r] +=
            o.asked.classes[k].rate * next.share[k][memory.first_route + r];
    }
    const double all = std::accumulate(row.begin(), row.end(), 0.0);
    if (all > 0)
      for (double& x : row)
        x /= all;
    else
      row = next.share[map.of[label * map.skips.size()]];
  }
}

} // namespace atelier::planning::detail
