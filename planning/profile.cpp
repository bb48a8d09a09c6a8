// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/profile.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace atelier::planning {

namespace {

struct point {
  double x = 0;
  double y = 0;
};

// Returns the line through the two of `points` nearest to `x`, at `x`.
// Before the first point never below the line from nothing through it, so that
// the value stays positive and rises.
// @pre points is not empty, x rises strictly, y does not fall
double line_at(const std::vector<point>& points, double x) {
  const point& first = points.front();
  if (points.size() == 1)
    return first.y * x / first.x;
  size_t upper = 1;
  while (upper + 1 < points.size() && points[upper].x < x)
    ++upper;
  const point& a = points[upper - 1];
  const point& b = points[upper];
  const double y = a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x);
  return x < first.x ? std::max(y, first.y * x / first.x) : y;
}

// Adds a point behind the others, never lower than they are: measurements
// scatter, but more work never takes less time.
void add_rising(std::vector<point>& points, double x, double y) {
  if (!points.empty())
    y = std::max(y, points.back().y);
  if (!points.empty() && points.back().x == x)
    points.back().y = y;
  else
    points.push_back({x, y});
}

// Returns the step's nanoseconds from points by rising pixels, then batch.
double took_at(const std::vector<step_cost>& sorted, double batch, double px) {
  std::vector<point> by_px;
  std::vector<point> by_batch;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const step_cost& at = sorted[i];
    add_rising(by_batch, at.batch, static_cast<double>(at.took.count()));
    if (i + 1 == sorted.size() || sorted[i + 1].px != at.px) {
      add_rising(by_px, static_cast<double>(at.px), line_at(by_batch, batch));
      by_batch.clear();
    }
  }
  return line_at(by_px, px);
}

} // namespace

std::optional<core::variant_id> find_variant(const profile& p,
                                             std::string_view name) {
  const auto find = [&](auto field) -> std::optional<core::variant_id> {
    for (size_t i = 0; i < p.variants.size(); ++i)
      if (p.variants[i].*field == name)
        return core::variant_id{static_cast<uint32_t>(i)};
    return std::nullopt;
  };
  if (const auto exact = find(&variant_profile::name))
    return exact;
  return find(&variant_profile::model);
}

core::timespan step_time(const variant_profile& v, uint32_t batch,
                         core::extent px) {
  ATELIER_EXPECTS(!v.step.empty(), "a variant has a measured point");
  ATELIER_EXPECTS(batch > 0, "a step has a row");
  std::vector<step_cost> sorted = v.step;
  for (step_cost& at : sorted) {
    at.batch = std::max(at.batch, 1u);
    at.px = std::max<uint64_t>(at.px, 1);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const step_cost& a, const step_cost& b) {
              return a.px != b.px ? a.px < b.px : a.batch < b.batch;
            });
  const auto pixels = static_cast<double>(px.pixels());
  double took = took_at(sorted, batch, pixels);
  // Two sizes measured at different batches can cross beyond them. More rows
  // never take less time: between its corners the curve is linear, so that the
  // corners below `batch` bound it.
  for (const step_cost& at : sorted)
    if (at.batch < batch)
      took = std::max(took, took_at(sorted, at.batch, pixels));
  constexpr auto most =
    static_cast<double>(std::numeric_limits<int64_t>::max() / 2);
  return core::timespan{std::llround(std::clamp(took, 0.0, most))};
}

core::extent picture_of(const variant_profile& v, core::extent px) {
  return px.pixels() == 0 ? v.native_px : px;
}

core::latent_shape latent_of(const variant_profile& v, core::extent px) {
  const uint32_t factor = std::max(v.latent_factor, 1u);
  const auto side = [&](uint32_t of_picture) {
    return of_picture / factor + (of_picture % factor != 0 ? 1 : 0);
  };
  return {v.latent_channels, side(px.height), side(px.width)};
}

} // namespace atelier::planning
