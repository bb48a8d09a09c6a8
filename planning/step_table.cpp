// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/step_table.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace atelier::planning {

// Returns the value at `x` of the line through two points. Before the first
// one, the value is never below the line from the origin through that point, so
// that it stays positive and rises.
// @pre a.x < b.x
double step_table::line_through(const point& a, const point& b, double x) {
  const double y = a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x);
  return x < a.x ? std::max(y, a.y * x / a.x) : y;
}

// Returns the value at `x` of the line through the two of `points` nearest to
// it.
// @pre points is not empty, x rises strictly, y does not fall
double step_table::line_at(const std::vector<point>& points, double x) {
  if (points.size() == 1)
    return points.front().y * x / points.front().x;
  size_t upper = 1;
  while (upper + 1 < points.size() && points[upper].x < x)
    ++upper;
  return line_through(points[upper - 1], points[upper], x);
}

// Appends a point that is never lower than the previous ones: measurements
// scatter, but more work never takes less time.
void step_table::add_rising(std::vector<point>& points, double x, double y) {
  if (!points.empty())
    y = std::max(y, points.back().y);
  if (!points.empty() && points.back().x == x)
    points.back().y = y;
  else
    points.push_back({x, y});
}

void step_table::keep_once(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

step_table::step_table(const std::vector<step_cost>& points) {
  ATELIER_EXPECTS(!points.empty(), "a variant has a measured point");
  if (points.size() == 1) {
    alone_ = points.front();
    return;
  }
  batches_.push_back(1);
  for (const step_cost& x : points) {
    batches_.push_back(std::max(x.batch, 1u));
    sizes_.push_back(static_cast<double>(std::max<uint64_t>(x.px, 1)));
  }
  keep_once(batches_);
  keep_once(sizes_);
  std::vector<step_cost> sorted = points;
  std::sort(sorted.begin(), sorted.end(),
            [](const step_cost& a, const step_cost& b) {
              return a.px != b.px ? a.px < b.px : a.batch < b.batch;
            });
  auto next = sorted.begin();
  for (const double size : sizes_) {
    std::vector<point> measured;
    for (; next != sorted.end()
           && static_cast<double>(std::max<uint64_t>(next->px, 1)) == size;
         ++next)
      add_rising(measured, std::max(next->batch, 1u),
                 static_cast<double>(next->took.count()));
    std::vector<point> row;
    for (size_t i = 0; i < batches_.size(); ++i) {
      add_rising(row, batches_[i], line_at(measured, batches_[i]));
      if (!rows_.empty())
        row[i].y = std::max(row[i].y, rows_.back()[i].y);
    }
    rows_.push_back(std::move(row));
  }
}

core::timespan step_table::at(uint32_t batch, uint64_t pixels) const {
  ATELIER_EXPECTS(batch > 0, "a step has a row");
  return predicted(batch, static_cast<double>(pixels));
}

core::timespan step_table::at_rows(double rows, core::extent px) const {
  ATELIER_EXPECTS(rows > 0, "a step has a part of a row");
  return predicted(rows, static_cast<double>(px.pixels()));
}

core::timespan step_table::predicted(double rows, double px) const {
  const double took =
    alone_ ? static_cast<double>(alone_->took.count()) * rows * px
               / std::max(alone_->batch, 1u)
               / static_cast<double>(std::max<uint64_t>(alone_->px, 1))
           : grid_at(rows, px);
  constexpr auto most =
    static_cast<double>(std::numeric_limits<int64_t>::max()) / 2;
  return core::timespan{std::llround(std::clamp(took, 0.0, most))};
}

// The curve of each size is linear between the batches of the grid, and rises.
// Outside the measured sizes, lines through two sizes can fall as batch rises,
// so smaller batches are compared too.
double step_table::grid_at(double batch, double px) const {
  double took = plain_at(batch, px);
  if (sizes_.size() == 1 || (px >= sizes_.front() && px <= sizes_.back()))
    return took;
  for (const double before : batches_)
    if (before < batch)
      took = std::max(took, plain_at(before, px));
  return took;
}

double step_table::plain_at(double batch, double px) const {
  // The two sizes nearest to `px`.
  point below;
  point above;
  double slope = 0;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const point& last = rows_[i].back();
    double took = line_at(rows_[i], std::min(batch, last.x));
    if (batch > last.x) {
      // A larger size's line is never flatter, as the lines would cross.
      slope = std::max(slope, line_at(rows_[i], last.x + 1) - last.y);
      took += slope * (batch - last.x);
    }
    below = std::exchange(above, {sizes_[i], took});
    if (i > 0 && above.x >= px)
      break;
  }
  return sizes_.size() == 1 ? above.y * px / above.x
                            : line_through(below, above, px);
}

namespace {

std::vector<variant_table> tables_on(const profile& p, std::string_view kind) {
  std::vector<variant_table> out;
  out.reserve(p.variants.size());
  for (uint32_t i = 0; i < p.variants.size(); ++i) {
    auto costs = on_kind(p, core::variant_id{i}, kind);
    step_table steps{costs.step};
    out.push_back({std::move(costs), std::move(steps)});
  }
  return out;
}

} // namespace

kind_tables::kind_tables(const profile& p) : any_(tables_on(p, {})) {
  for (const kind_profile& k : p.kinds)
    kinds_.emplace_back(k.kind, tables_on(p, k.kind));
}

const variant_table& kind_tables::of(core::variant_id variant) const {
  return any_.at(variant.value);
}

const variant_table& kind_tables::of(core::variant_id variant,
                                     std::string_view kind) const {
  for (const auto& [name, tables] : kinds_)
    if (name == kind)
      return tables.at(variant.value);
  return of(variant);
}

core::timespan kind_tables::shared_step(std::span<const core::variant_id> rows,
                                        std::string_view kind, double batch,
                                        core::extent px) const {
  core::timespan sum{0};
  for (const auto v : rows)
    sum += of(v, kind).steps.at_rows(batch, px);
  return sum / static_cast<int64_t>(rows.size());
}

} // namespace atelier::planning
