// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/contrast.hpp>
#include <atelier/training/quality/detail/object_paint.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace atelier::gpu::detail {

namespace {

// The line of colours from an object's colour to its pattern's.
struct colour_line {
  lab base;
  lab way;
  float square = 0;

  // Returns the position of a colour along the line: 0 is the object's colour
  // and 1 the pattern's.
  float along(const lab& x) const {
    return ((x.l - base.l) * way.l + (x.a - base.a) * way.a
            + (x.b - base.b) * way.b)
         / square;
  }

  float off(const lab& x) const {
    const auto share = std::clamp(along(x), 0.f, 1.f);
    return distance(x, {base.l + share * way.l, base.a + share * way.a,
                        base.b + share * way.b});
  }
};

const std::array<colour_line, colour_count>& colour_lines() {
  static const auto all = [] {
    std::array<colour_line, colour_count> out;
    for (auto i = size_t{0}; i < colour_count; ++i) {
      const auto colour = static_cast<object_colour>(i);
      auto& x = out[i];
      x.base = to_lab(colour_of(colour));
      const auto end = to_lab(pattern_colour_of(colour));
      x.way = {end.l - x.base.l, end.a - x.base.a, end.b - x.base.b};
      x.square = x.way.l * x.way.l + x.way.a * x.way.a + x.way.b * x.way.b;
    }
    return out;
  }();
  return all;
}

constexpr size_t terms = 5;
using normal_equations = std::array<std::array<double, terms + 1>, terms>;

// Solves by Gaussian elimination. The matrix is positive semidefinite, and a
// small number is added to its diagonal, so no pivots are needed.
std::array<double, terms> solve(normal_equations m) {
  for (auto i = size_t{0}; i < terms; ++i) {
    m[i][i] += 1e-3;
    for (auto j = i + 1; j < terms; ++j) {
      const auto share = m[j][i] / m[i][i];
      for (auto k = i; k <= terms; ++k)
        m[j][k] -= share * m[i][k];
    }
  }
  std::array<double, terms> out{};
  for (auto i = terms; i-- > 0;) {
    auto rest = m[i][terms];
    for (auto k = i + 1; k < terms; ++k)
      rest -= m[i][k] * out[k];
    out[i] = rest / m[i][i];
  }
  return out;
}

// Cosine and sine of one of the 16 integer phases of the patterns' period.
struct wave {
  double cosine;
  double sine;
};

const wave& wave_at(int phase) {
  static const auto all = [] {
    std::array<wave, 16> out{};
    for (auto i = size_t{0}; i < out.size(); ++i) {
      const auto at = static_cast<double>(i) * std::numbers::pi / 8;
      out[i] = {std::cos(at), std::sin(at)};
    }
    return out;
  }();
  return all[static_cast<size_t>(phase & 15)];
}

lab colour_at(const planes& lab_image, uint16_t pixel) {
  return {lab_image[0][pixel], lab_image[1][pixel], lab_image[2][pixel]};
}

// Returns the colour with the least sum of distances from the pixels, measured
// by `off`, and the mean distance.
template <class F>
std::pair<size_t, float> nearest_colour(const segment& core, F off) {
  // Limits the distance of a pixel, so that a few pixels of other things do not
  // matter.
  constexpr auto most = 50.f;
  std::array<float, colour_count> sums{};
  for (const auto pixel : core)
    for (auto i = size_t{0}; i < colour_count; ++i)
      sums[i] += std::min(off(colour_lines()[i], pixel), most);
  const auto best = std::ranges::min_element(sums);
  return {static_cast<size_t>(best - sums.begin()),
          *best / static_cast<float>(core.size())};
}

struct wave_strengths {
  float along;
  float across;
};

// Measures the patterns' waves: stripes are a wave along one diagonal, dots are
// waves along both. Phases are unknown, so this is a least-squares fit of a
// constant and both waves.
wave_strengths waves_of(const segment& core, const planes& lab_image,
                        const colour_line& line) {
  normal_equations sum{};
  for (const auto pixel : core) {
    const auto x = pixel % check_side;
    const auto y = pixel / check_side;
    const auto& u = wave_at(x + y);
    const auto& v = wave_at(x - y);
    const std::array<double, terms + 1> row{
      1,
      u.cosine,
      u.sine,
      v.cosine,
      v.sine,
      std::clamp<double>(line.along(colour_at(lab_image, pixel)), -0.5, 1.5)};
    for (auto i = size_t{0}; i < terms; ++i)
      for (auto j = size_t{0}; j <= terms; ++j)
        sum[i][j] += row[i] * row[j];
  }
  const auto solved = solve(sum);
  return {static_cast<float>(std::hypot(solved[1], solved[2])),
          static_cast<float>(std::hypot(solved[3], solved[4]))};
}

object_texture texture_of(const wave_strengths& waves) {
  // Rendered stripes have a strength of 0.58 and dots 0.33. Blurred by a
  // Gaussian of 2 pixels, they have at least 0.24 and 0.12, and plain objects
  // have at most 0.08. The weaker wave is at least half as strong as the other
  // for dots, and at most a third for stripes.
  const auto strong = std::max(waves.along, waves.across);
  const auto weak = std::min(waves.along, waves.across);
  if (strong < 0.1f)
    return object_texture::plain;
  return weak > 0.38f * strong ? object_texture::dotted
                               : object_texture::striped;
}

} // namespace

paint paint_of(const segment& core, const planes& lab_image) {
  auto best = nearest_colour(core, [&](const colour_line& line, auto pixel) {
    return line.off(colour_at(lab_image, pixel));
  });
  paint out;
  out.texture =
    texture_of(waves_of(core, lab_image, colour_lines()[best.first]));
  // No plain object has the colour of a pattern, so only base colours count.
  if (out.texture == object_texture::plain)
    best = nearest_colour(core, [&](const colour_line& line, auto pixel) {
      return distance(line.base, colour_at(lab_image, pixel));
    });
  out.colour = static_cast<object_colour>(best.first);
  out.distance = best.second;
  return out;
}

} // namespace atelier::gpu::detail
