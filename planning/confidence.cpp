// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/confidence.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::planning {

namespace {

/// A measured mean, and the place where it is stored.
struct measured_mean {
  double* target = nullptr;
  uint32_t images = 0;
  double error = 0;
};

void pool(std::vector<measured_mean> all) {
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return *a.target > *b.target;
  });
  for (auto best = all.begin(); best != all.end();) {
    const auto end = std::find_if(best, all.end(), [&](const auto& x) {
      return *best->target - *x.target
           > confident_errors * std::hypot(best->error, x.error);
    });
    double sum = 0;
    double images = 0;
    for (auto i = best; i != end; ++i) {
      sum += *i->target * i->images;
      images += i->images;
    }
    if (end - best > 1)
      for (auto i = best; i != end; ++i)
        *i->target = sum / images;
    best = end;
  }
}

/// Returns the falling or rising fit by the pool adjacent violators algorithm,
/// and its squared distance from the points.
std::pair<std::vector<double>, double> monotone(curve::const_iterator begin,
                                                curve::const_iterator end,
                                                double direction) {
  struct block {
    double sum = 0;
    size_t n = 0;
  };

  std::vector<block> blocks;
  for (auto i = begin; i != end; ++i) {
    blocks.push_back({direction * i->second, 1});
    while (blocks.size() > 1) {
      auto& last = blocks.back();
      auto& before = blocks[blocks.size() - 2];
      if (before.sum * static_cast<double>(last.n)
          <= last.sum * static_cast<double>(before.n))
        break;
      before.sum += last.sum;
      before.n += last.n;
      blocks.pop_back();
    }
  }
  std::pair<std::vector<double>, double> out;
  auto i = begin;
  for (const auto& b : blocks)
    for (size_t k = 0; k < b.n; ++k, ++i) {
      const double mean = direction * b.sum / static_cast<double>(b.n);
      out.first.push_back(mean);
      out.second += (i->second - mean) * (i->second - mean);
    }
  return out;
}

void settle(cascade_profile& c) {
  if (c.fid.empty() || c.fid_error.size() != c.fid.size())
    return;
  const double heavy = c.fid.front().second;
  for (size_t i = 0; i < c.fid.size(); ++i)
    if (std::abs(c.fid[i].second - heavy) <= confident_errors * c.fid_error[i])
      c.fid[i].second = heavy;
  c.fid = one_valley(c.fid);
  c.fid_error.clear();
}

} // namespace

double standard_error(double mean, uint32_t images, double deviation) {
  if (images == 0)
    return 0;
  const double spread =
    deviation > 0 ? deviation : std::sqrt(std::max(0.0, mean * (1 - mean)));
  return spread / std::sqrt(static_cast<double>(images));
}

curve one_valley(const curve& points) {
  curve best = points;
  double least = -1;
  // Points before the cut fall, the others rise.
  for (size_t cut = 0; cut <= points.size(); ++cut) {
    const auto middle = points.begin() + static_cast<std::ptrdiff_t>(cut);
    const auto falling = monotone(points.begin(), middle, -1);
    const auto rising = monotone(middle, points.end(), 1);
    const double apart = falling.second + rising.second;
    if (least >= 0 && apart > least)
      continue;
    least = apart;
    for (size_t i = 0; i < points.size(); ++i)
      best[i].second = i < cut ? falling.first[i] : rising.first[i - cut];
  }
  return best;
}

profile beyond_chance(profile known) {
  std::vector<measured_mean> variants;
  for (auto& v : known.variants)
    if (v.rated && v.quality_images > 0)
      variants.push_back(
        {&v.quality, v.quality_images,
         standard_error(v.quality, v.quality_images, v.quality_deviation)});
  pool(std::move(variants));
  for (auto& ladder : known.ladders) {
    std::vector<measured_mean> levels;
    for (auto& x : ladder.levels)
      if (x.images > 0)
        levels.push_back({&x.quality, x.images,
                          standard_error(x.quality, x.images, x.deviation)});
    pool(std::move(levels));
  }
  for (auto& c : known.cascades)
    settle(c);
  return known;
}

} // namespace atelier::planning
