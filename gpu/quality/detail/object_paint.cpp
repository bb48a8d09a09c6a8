// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/quality/detail/object_paint.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace atelier::gpu::detail {

namespace {

// The colours from an object's own to its pattern's.
struct colour_line {
  lab base;
  lab way;
  float square = 0;

  // How far along the line a colour lies, 1 at the pattern's.
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

// Gauss elimination; the matrix is positive semidefinite and has a small number
// added to its diagonal, so that it needs no pivots.
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

// cos and sin of all whole phases of the patterns' period of 16.
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

} // namespace

paint paint_of(const segment& core, const planes& lab_picture) {
  const auto colour_at = [&](uint16_t pixel) {
    return lab{lab_picture[0][pixel], lab_picture[1][pixel],
               lab_picture[2][pixel]};
  };
  // A few pixels of anything else count no more than this.
  constexpr auto most = 50.f;
  std::array<float, colour_count> sums{};
  for (const auto pixel : core)
    for (auto i = size_t{0}; i < colour_count; ++i)
      sums[i] += std::min(colour_lines()[i].off(colour_at(pixel)), most);
  const auto best =
    static_cast<size_t>(std::ranges::min_element(sums) - sums.begin());
  paint out;
  out.colour = static_cast<object_colour>(best);
  out.distance = sums[best] / static_cast<float>(core.size());

  // Stripes are a wave along one diagonal, dots one along each. Their phases
  // are left open: least squares over a constant and both waves.
  const auto& line = colour_lines()[best];
  normal_equations sum{};
  for (const auto pixel : core) {
    const auto x = pixel % check_side;
    const auto y = pixel / check_side;
    const auto& u = wave_at(x + y);
    const auto& v = wave_at(x - y);
    const std::array<double, terms + 1> row{
      1,      u.cosine,
      u.sine, v.cosine,
      v.sine, std::clamp<double>(line.along(colour_at(pixel)), -0.5, 1.5)};
    for (auto i = size_t{0}; i < terms; ++i)
      for (auto j = size_t{0}; j <= terms; ++j)
        sum[i][j] += row[i] * row[j];
  }
  const auto solved = solve(sum);
  out.along = static_cast<float>(std::hypot(solved[1], solved[2]));
  out.across = static_cast<float>(std::hypot(solved[3], solved[4]));
  const auto strong = std::max(out.along, out.across);
  const auto weak = std::min(out.along, out.across);
  if (strong > 0.12f)
    out.texture =
      weak > 0.45f * strong ? object_texture::dotted : object_texture::striped;
  return out;
}

} // namespace atelier::gpu::detail
