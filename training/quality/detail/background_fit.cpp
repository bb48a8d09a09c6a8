// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/quality/detail/background_fit.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace atelier::gpu::detail {

namespace {

constexpr float middle = (check_side - 1) / 2.f;
constexpr int rim_px = 3;

float median(std::vector<float>& values) {
  const auto at = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

// Uses medians of the four sides, which are robust against objects that cover
// nearly half of each side.
colour_plane plane_of_rim(const std::vector<float>& channel) {
  std::array<std::vector<float>, 4> sides;
  for (auto depth = 0; depth < rim_px; ++depth)
    for (auto i = 0; i < check_side; ++i) {
      const auto far = check_side - 1 - depth;
      sides[0].push_back(channel[pixel_at(depth, i)]);
      sides[1].push_back(channel[pixel_at(far, i)]);
      sides[2].push_back(channel[pixel_at(i, depth)]);
      sides[3].push_back(channel[pixel_at(i, far)]);
    }
  const auto left = median(sides[0]);
  const auto right = median(sides[1]);
  const auto top = median(sides[2]);
  const auto bottom = median(sides[3]);
  constexpr auto apart = static_cast<float>(check_side - rim_px);
  return {(left + right + top + bottom) / 4, (right - left) / apart,
          (bottom - top) / apart};
}

struct sums {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  std::array<std::array<double, 3>, 3> v{};
};

double determinant(const std::array<std::array<double, 3>, 3>& m) {
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
       - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
       + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

// Solves least squares by Cramer's rule. Returns false if the pixels are on one
// line.
bool solve(const sums& s, background_planes& out) {
  const std::array<std::array<double, 3>, 3> m{
    {{s.n, s.x, s.y}, {s.x, s.xx, s.xy}, {s.y, s.xy, s.yy}}};
  const auto all = determinant(m);
  if (std::abs(all) < 1e-6 * (s.n * s.xx * s.yy + 1))
    return false;
  for (auto c = size_t{0}; c < 3; ++c) {
    std::array<float, 3> solved{};
    for (auto k = size_t{0}; k < 3; ++k) {
      auto replaced = m;
      for (auto i = size_t{0}; i < 3; ++i)
        replaced[i][k] = s.v[c][i];
      solved[k] = static_cast<float>(determinant(replaced) / all);
    }
    out[c] = {solved[0], solved[1], solved[2]};
  }
  return true;
}

// Fits the planes again to the pixels that differ little from them so far.
void refit(const planes& rgb, float within, background_planes& out) {
  sums s;
  for (auto y = 0; y < check_side; y += 2)
    for (auto x = 0; x < check_side; x += 2) {
      const auto px = static_cast<float>(x) - middle;
      const auto py = static_cast<float>(y) - middle;
      const auto i = pixel_at(x, y);
      auto far = 0.f;
      for (auto c = size_t{0}; c < 3; ++c)
        far = std::max(far, std::abs(rgb[c][i] - out[c].value(px, py)));
      if (far > within)
        continue;
      s.n += 1;
      s.x += px;
      s.y += py;
      s.xx += px * px;
      s.xy += px * py;
      s.yy += py * py;
      for (auto c = size_t{0}; c < 3; ++c) {
        const auto v = rgb[c][i];
        s.v[c][0] += v;
        s.v[c][1] += v * px;
        s.v[c][2] += v * py;
      }
    }
  // Few pixels would give a worse plane than the rim does.
  if (s.n >= 200)
    solve(s, out);
}

lab planes_lab(const background_planes& of, float x, float y) {
  return fast_lab(of[0].value(x, y), of[1].value(x, y), of[2].value(x, y));
}

} // namespace

background_planes fit_background(const planes& rgb) {
  background_planes out;
  for (auto c = size_t{0}; c < 3; ++c)
    out[c] = plane_of_rim(rgb[c]);
  for (const auto within : {32.f, 24.f, 20.f})
    refit(rgb, within, out);
  return out;
}

std::array<lab, check_side> background_row(const background_planes& of, int y) {
  // L*a*b* is nearly linear over a few pixels, so it is interpolated.
  constexpr auto step = 8;
  const auto at = [&](int x) {
    return planes_lab(of, static_cast<float>(x) - middle,
                      static_cast<float>(y) - middle);
  };
  std::array<lab, check_side> out;
  auto next = at(0);
  for (auto x = 0; x < check_side;) {
    const auto from = next;
    next = at(x + step);
    const auto way = lab{(next.l - from.l) / step, (next.a - from.a) / step,
                         (next.b - from.b) / step};
    for (auto i = 0; i < step; ++i, ++x) {
      const auto share = static_cast<float>(i);
      out[static_cast<size_t>(x)] = {
        from.l + way.l * share, from.a + way.a * share, from.b + way.b * share};
    }
  }
  return out;
}

std::optional<scene_background> name_background(const background_planes& of) {
  // Largest mean distance of the corners from a known background, in L*a*b*, at
  // which that background is recognised.
  constexpr auto most = 24.f;
  constexpr auto edge = scene_side / 2;
  std::array<lab, 4> corners;
  for (auto i = size_t{0}; i < 4; ++i)
    corners[i] =
      planes_lab(of, i % 2 == 0 ? -edge : edge, i / 2 == 0 ? -edge : edge);
  std::array<std::array<float, background_colour_count>, 4> off{};
  for (auto i = size_t{0}; i < 4; ++i)
    for (auto c = size_t{0}; c < background_colour_count; ++c)
      off[i][c] = distance(
        corners[i], to_lab(colour_of(static_cast<background_colour>(c))));
  std::optional<scene_background> best;
  auto least = most;
  const auto consider = [&](size_t from, size_t to, background_grade grade) {
    const auto across = grade == background_grade::horizontal;
    const auto mean = (off[0][from] + off[across ? 2 : 1][from] + off[3][to]
                       + off[across ? 1 : 2][to])
                    / 4;
    if (mean < least) {
      least = mean;
      best = scene_background{static_cast<background_colour>(from),
                              static_cast<background_colour>(to), grade};
    }
  };
  for (auto from = size_t{0}; from < background_colour_count; ++from)
    for (auto to = size_t{0}; to < background_colour_count; ++to)
      if (from == to) {
        consider(from, to, background_grade::plain);
      } else {
        consider(from, to, background_grade::vertical);
        consider(from, to, background_grade::horizontal);
      }
  return best;
}

} // namespace atelier::gpu::detail
