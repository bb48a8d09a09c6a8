// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/profile.hpp>

#include <algorithm>
#include <charconv>
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

// The measured points, filled up to a grid of all batches and sizes on which
// the time, in nanoseconds, never falls in either direction.
class step_table {
public:
  explicit step_table(const std::vector<step_cost>& points) {
    batches_.push_back(1);
    for (const step_cost& at : points) {
      batches_.push_back(std::max(at.batch, 1u));
      sizes_.push_back(static_cast<double>(std::max<uint64_t>(at.px, 1)));
    }
    keep_once(batches_);
    keep_once(sizes_);
    std::vector<step_cost> sorted = points;
    std::sort(sorted.begin(), sorted.end(),
              [](const step_cost& a, const step_cost& b) {
                return a.px != b.px ? a.px < b.px : a.batch < b.batch;
              });
    auto at = sorted.begin();
    for (const double size : sizes_) {
      std::vector<point> measured;
      for (; at != sorted.end()
             && static_cast<double>(std::max<uint64_t>(at->px, 1)) == size;
           ++at)
        add_rising(measured, std::max(at->batch, 1u),
                   static_cast<double>(at->took.count()));
      std::vector<point> row;
      for (size_t i = 0; i < batches_.size(); ++i) {
        add_rising(row, batches_[i], line_at(measured, batches_[i]));
        if (!rows_.empty())
          row[i].y = std::max(row[i].y, rows_.back()[i].y);
      }
      rows_.push_back(std::move(row));
    }
  }

  // The sizes' own curves are linear between the batches of the grid. Beyond
  // the sizes, lines through two of them can fall where batch rises, so that
  // the batches before are asked too.
  double at(double batch, double px) const {
    double took = plain_at(batch, px);
    for (const double before : batches_)
      if (before < batch)
        took = std::max(took, plain_at(before, px));
    return took;
  }

private:
  static void keep_once(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  double plain_at(double batch, double px) const {
    std::vector<point> by_size;
    by_size.reserve(sizes_.size());
    double slope = 0;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const point& last = rows_[i].back();
      double took = line_at(rows_[i], std::min(batch, last.x));
      if (batch > last.x) {
        // A larger size's line is never the flatter one: they would cross.
        slope = std::max(slope, line_at(rows_[i], last.x + 1) - last.y);
        took += slope * (batch - last.x);
      }
      by_size.push_back({sizes_[i], took});
    }
    return line_at(by_size, px);
  }

  std::vector<double> batches_;
  std::vector<double> sizes_;
  // [size][batch]
  std::vector<std::vector<point>> rows_;
};

} // namespace

core::result<variant_profile> parse_variant(std::string_view name) {
  const auto bad = [&](std::string_view why) {
    return core::fail(core::ec::bad_config,
                      "variant '{}' is not model@steps or model@steps/dtype: "
                      "{}",
                      name, why);
  };
  const auto at = name.rfind('@');
  if (at == std::string_view::npos || at == 0)
    return bad("no model before an @");
  variant_profile v;
  v.name = name;
  v.model = name.substr(0, at);
  auto rest = name.substr(at + 1);
  if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
    const auto precision = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
    if (precision == "f32")
      v.precision = core::dtype::float32;
    else if (precision == "f16")
      v.precision = core::dtype::float16;
    else if (precision == "bf16")
      v.precision = core::dtype::bfloat16;
    else
      return bad("the element type is none of f32, f16, bf16");
  }
  const auto* end = rest.data() + rest.size();
  const auto parsed = std::from_chars(rest.data(), end, v.steps);
  if (parsed.ec != std::errc{} || parsed.ptr != end || v.steps == 0)
    return bad("the steps are no whole number above 0");
  return v;
}

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
  const auto pixels = static_cast<double>(px.pixels());
  double took = 0;
  if (v.step.size() == 1) {
    const step_cost& one = v.step.front();
    took = static_cast<double>(one.took.count()) * batch * pixels
         / std::max(one.batch, 1u)
         / static_cast<double>(std::max<uint64_t>(one.px, 1));
  } else {
    took = step_table{v.step}.at(batch, pixels);
  }
  constexpr auto most =
    static_cast<double>(std::numeric_limits<int64_t>::max()) / 2;
  return core::timespan{std::llround(std::clamp(took, 0.0, most))};
}

core::timespan prepare_time(const profile& p, const core::request& wanted) {
  if (!wanted.source)
    return p.prepare;
  const auto megapixels = static_cast<double>(wanted.source->pixels()) / 1e6;
  return p.prepare
       + core::from_seconds(core::to_seconds(p.source) * megapixels);
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
