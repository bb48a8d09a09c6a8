// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/detail/signed_distance.hpp>
#include <atelier/training/quality/detail/shape_match.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu::detail {

namespace {

// Shapes and masks are compared at the points of a grid from -half_width to
// half_width radii along both axes.
constexpr size_t grid_side = 26;
constexpr size_t grid_points = grid_side * grid_side;
constexpr float half_width = 1.25f;

constexpr float grid_at(size_t i) {
  return (static_cast<float>(i) + 0.5f) * (2 * half_width / grid_side)
       - half_width;
}

// Coverage in 255ths. Integers of one byte make the sums below fast.
using grid = std::array<uint8_t, grid_points>;

uint8_t to_byte(float share) {
  return static_cast<uint8_t>(std::floor(share * 255 + 0.5f));
}

// Masks are never sharp, and the images of small networks are blurred. Each
// shape is therefore compared with the mask after a blur by each of these
// Gaussians, whose deviations are in radii.
constexpr std::array<float, 3> blurs{0.05f, 0.1f, 0.16f};

struct shape_template {
  std::array<grid, blurs.size()> blurred{};
  std::array<uint32_t, blurs.size()> sums{};
  float area = 0;
  scene_point centroid;
};

// The side of a fine grid, on which the blurs' integrals are computed as sums.
constexpr size_t fine_side = grid_side * 5;

std::vector<float> gaussian(float sigma_steps) {
  const auto half = static_cast<int>(std::ceil(3 * sigma_steps));
  std::vector<float> out;
  auto sum = 0.f;
  for (auto i = -half; i <= half; ++i) {
    const auto v = static_cast<float>(i) / sigma_steps;
    out.push_back(std::exp(-v * v / 2));
    sum += out.back();
  }
  for (auto& x : out)
    x /= sum;
  return out;
}

// Smooths the rows of a square and transposes it. Two calls smooth both axes.
std::vector<float> smoothed_and_turned(const std::vector<float>& from,
                                       const std::vector<float>& by) {
  std::vector<float> out(from.size(), 0);
  const auto half = by.size() / 2;
  for (auto y = size_t{0}; y < fine_side; ++y)
    for (auto x = size_t{0}; x < fine_side; ++x) {
      auto sum = 0.f;
      for (auto i = size_t{0}; i < by.size(); ++i)
        if (x + i >= half && x + i - half < fine_side)
          sum += by[i] * from[y * fine_side + x + i - half];
      out[x * fine_side + y] = sum;
    }
  return out;
}

shape_template template_of(object_shape shape) {
  constexpr auto step = 2 * half_width / fine_side;
  shape_template out;
  std::vector<float> fine(fine_side * fine_side);
  auto sum = 0.f;
  for (auto y = size_t{0}; y < fine_side; ++y)
    for (auto x = size_t{0}; x < fine_side; ++x) {
      const auto ux = (static_cast<float>(x) + 0.5f) * step - half_width;
      const auto uy = (static_cast<float>(y) + 0.5f) * step - half_width;
      const auto share =
        std::clamp(0.5f - signed_distance(shape, ux, uy) / step, 0.f, 1.f);
      fine[y * fine_side + x] = share;
      sum += share;
      out.centroid.x += share * ux;
      out.centroid.y += share * uy;
    }
  out.area = sum * step * step;
  out.centroid.x /= sum;
  out.centroid.y /= sum;
  for (auto b = size_t{0}; b < blurs.size(); ++b) {
    const auto by = gaussian(blurs[b] / step);
    const auto blurred = smoothed_and_turned(smoothed_and_turned(fine, by), by);
    for (auto i = size_t{0}; i < grid_points; ++i) {
      constexpr auto each = fine_side / grid_side;
      const auto y = i / grid_side * each + each / 2;
      const auto x = i % grid_side * each + each / 2;
      out.blurred[b][i] = to_byte(blurred[y * fine_side + x]);
      out.sums[b] += out.blurred[b][i];
    }
  }
  return out;
}

const shape_template& template_for(object_shape shape) {
  static const auto all = [] {
    std::array<shape_template, shape_count> out;
    for (auto i = size_t{0}; i < shape_count; ++i)
      out[i] = template_of(static_cast<object_shape>(i));
    return out;
  }();
  return all[static_cast<size_t>(shape)];
}

uint32_t difference_of(const grid& x, const grid& y) {
  uint32_t sum = 0;
  for (auto i = size_t{0}; i < grid_points; ++i)
    sum += static_cast<uint32_t>(std::abs(int{x[i]} - int{y[i]}));
  return sum;
}

struct sampled_mask {
  grid values{};
  uint32_t sum = 0;
};

// Interpolates linearly between the centres of the mask's pixels; coverage is 0
// outside.
sampled_mask sampled(const coverage_mask& mask, const shape_fit& at) {
  sampled_mask out;
  const auto last_x = static_cast<float>(mask.width - 1);
  const auto last_y = static_cast<float>(mask.height - 1);
  const auto first_x = at.centre.x - 0.5f - static_cast<float>(mask.left);
  const auto first_y = at.centre.y - 0.5f - static_cast<float>(mask.top);
  for (auto y = size_t{0}; y < grid_side; ++y) {
    const auto py = first_y + at.radius * grid_at(y);
    if (py < 0 || py >= last_y)
      continue;
    const auto j = static_cast<int>(py);
    const auto fy = py - static_cast<float>(j);
    const auto* row = mask.share.data() + j * mask.width;
    auto* to = out.values.data() + y * grid_side;
    for (auto x = size_t{0}; x < grid_side; ++x) {
      const auto px = first_x + at.radius * grid_at(x);
      if (px < 0 || px >= last_x)
        continue;
      const auto i = static_cast<int>(px);
      const auto fx = px - static_cast<float>(i);
      const auto* p = row + i;
      const auto* q = p + mask.width;
      const auto upper = p[0] + (p[1] - p[0]) * fx;
      const auto lower = q[0] + (q[1] - q[0]) * fx;
      to[x] = to_byte(upper + (lower - upper) * fy);
      out.sum += to[x];
    }
  }
  return out;
}

float score_of(const coverage_mask& mask, const shape_fit& at) {
  const auto seen = sampled(mask, at);
  const auto& shape = template_for(at.shape);
  auto best = 0.f;
  for (auto i = size_t{0}; i < blurs.size(); ++i) {
    // The sum of both coverages minus their difference is twice the
    // intersection, and plus their difference it is twice the union.
    const auto together = static_cast<float>(seen.sum + shape.sums[i]);
    const auto apart =
      static_cast<float>(difference_of(seen.values, shape.blurred[i]));
    best = std::max(best, (together - apart) / (together + apart));
  }
  return best;
}

// Moves and scales a fit as long as its score rises.
shape_fit refined(const coverage_mask& mask, shape_fit best) {
  for (const auto share : {0.06f, 0.03f}) {
    constexpr auto rounds = 3;
    for (auto round = 0; round < rounds; ++round) {
      const auto before = best.score;
      const auto step = share * best.radius;
      const auto attempt = [&](float dx, float dy, float dr) {
        auto next = best;
        next.centre.x += dx;
        next.centre.y += dy;
        next.radius += dr;
        next.score = score_of(mask, next);
        if (next.score <= best.score)
          return false;
        best = next;
        return true;
      };
      attempt(step, 0, 0) || attempt(-step, 0, 0);
      attempt(0, step, 0) || attempt(0, -step, 0);
      attempt(0, 0, step) || attempt(0, 0, -step);
      if (best.score <= before)
        break;
    }
  }
  return best;
}

} // namespace

coverage_mask coverage_of(const segment& of,
                          const std::vector<float>& difference, float level) {
  auto left = check_side;
  auto top = check_side;
  auto right = 0;
  auto bottom = 0;
  for (const auto pixel : of) {
    left = std::min(left, pixel % check_side);
    right = std::max(right, pixel % check_side);
    top = std::min(top, pixel / check_side);
    bottom = std::max(bottom, pixel / check_side);
  }
  // One more pixel on each side makes coverage fall to 0 inside the box.
  coverage_mask out;
  out.left = left - 1;
  out.top = top - 1;
  out.width = right - left + 3;
  out.height = bottom - top + 3;
  out.share.assign(
    static_cast<size_t>(out.width) * static_cast<size_t>(out.height), 0);
  for (const auto pixel : of) {
    const auto x = pixel % check_side - out.left;
    const auto y = pixel / check_side - out.top;
    out.share[out.index_of(x, y)] = std::min(difference[pixel] / level, 1.f);
  }
  return out;
}

shape_fit match_shape(const coverage_mask& mask) {
  auto area = 0.f;
  scene_point centroid{0, 0};
  for (auto y = 0; y < mask.height; ++y)
    for (auto x = 0; x < mask.width; ++x) {
      const auto share = mask.share[mask.index_of(x, y)];
      area += share;
      centroid.x += share * (static_cast<float>(mask.left + x) + 0.5f);
      centroid.y += share * (static_cast<float>(mask.top + y) + 0.5f);
    }
  if (area <= 0)
    return {};
  centroid.x /= area;
  centroid.y /= area;
  std::array<shape_fit, shape_count> fits;
  for (auto i = size_t{0}; i < shape_count; ++i) {
    auto& fit = fits[i];
    fit.shape = static_cast<object_shape>(i);
    const auto& own = template_for(fit.shape);
    fit.radius = std::sqrt(area / own.area);
    fit.centre = {centroid.x - fit.radius * own.centroid.x,
                  centroid.y - fit.radius * own.centroid.y};
    fit.score = score_of(mask, fit);
  }
  // A better position cannot compensate for a rank below `finalists` or for a
  // gap above `most_gain`.
  constexpr auto finalists = 4;
  constexpr auto most_gain = 0.12f;
  std::ranges::partial_sort(fits, fits.begin() + finalists,
                            std::ranges::greater{}, &shape_fit::score);
  auto best = refined(mask, fits[0]);
  for (auto i = size_t{1}; i < finalists; ++i)
    if (fits[i].score + most_gain > best.score) {
      const auto fit = refined(mask, fits[i]);
      if (fit.score > best.score)
        best = fit;
    }
  return best;
}

} // namespace atelier::gpu::detail
