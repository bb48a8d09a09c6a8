// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/policies/argus/shift.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atelier::planning::argus {

namespace {

// Mass below this is arithmetic noise.
constexpr double noise = 1e-9;

std::vector<double> scaled_to_one(std::span<const double> shares) {
  std::vector<double> out(shares.begin(), shares.end());
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  if (!(sum > 0))
    out[0] = 1;
  else
    for (double& x : out)
      x /= sum;
  return out;
}

size_t nearest_with_load(size_t c, const std::vector<double>& f) {
  for (size_t v = c + 1; v-- > 0;)
    if (f[v] > 0)
      return v;
  for (size_t v = c + 1; v < f.size(); ++v)
    if (f[v] > 0)
      return v;
  return c;
}

// Returns probabilities from mass[class][level].
shift_map normalised(const table& mass, const std::vector<double>& f) {
  shift_map map{mass.rows, mass.columns};
  for (size_t c = 0; c < mass.rows; ++c) {
    double sum = 0;
    for (size_t v = 0; v < mass.columns; ++v)
      sum += std::max(0.0, mass.at(c, v));
    if (sum < 1e-15) {
      map.at(c, nearest_with_load(c, f)) = 1;
      continue;
    }
    for (size_t v = 0; v < mass.columns; ++v)
      map.at(c, v) = std::max(0.0, mass.at(c, v)) / sum;
  }
  return map;
}

} // namespace

shift_map align(std::span<const double> histogram,
                std::span<const double> load) {
  ATELIER_EXPECTS(histogram.size() == load.size() && !load.empty(),
                  "a class for each level");
  const size_t n = load.size();
  const auto h = scaled_to_one(histogram);
  const auto f = scaled_to_one(load);
  table mass{n, n};
  std::vector<double> at_level = h;
  for (size_t c = 0; c < n; ++c)
    mass.at(c, c) = h[c];
  const auto shift = [&](size_t from, size_t to, double amount) {
    const double part = std::min(1.0, amount / at_level[from]);
    for (size_t c = 0; c < n; ++c) {
      const double moved = mass.at(c, from) * part;
      mass.at(c, from) -= moved;
      mass.at(c, to) += moved;
    }
    at_level[from] -= amount;
    at_level[to] += amount;
  };
  for (size_t i = n; i-- > 1;) {
    const double surplus = at_level[i] - f[i];
    if (surplus > noise) {
      shift(i, i - 1, surplus);
      continue;
    }
    double lack = -surplus;
    for (size_t m = 1; m <= i && lack > noise; ++m) {
      const double amount = std::min(at_level[i - m], lack);
      if (amount <= 0)
        continue;
      shift(i - m, i, amount);
      lack -= amount;
    }
  }
  return normalised(mass, f);
}

shift_map align_exactly(std::span<const double> histogram,
                        std::span<const double> load,
                        const table& degradation) {
  ATELIER_EXPECTS(histogram.size() == load.size() && !load.empty(),
                  "a class for each level");
  const size_t n = load.size();
  const auto h = scaled_to_one(histogram);
  const auto f = scaled_to_one(load);
  double most = 0;
  for (const double d : degradation.cells)
    most = std::max(most, std::abs(d));
  // The step is so small that it decides only between equal maps.
  const double step = (most > 0 ? most : 1) * 1e-9 / static_cast<double>(n);
  table costs{n, n};
  for (size_t c = 0; c < n; ++c)
    for (size_t v = 0; v < n; ++v) {
      const auto levels = static_cast<double>(c > v ? c - v : v - c);
      costs.at(c, v) =
        degradation.at(c, v) + step * levels * levels / static_cast<double>(n);
    }
  return normalised(transport_shares(h, f, costs), f);
}

uint32_t draw_level(std::span<const double> row, core::philox& random) {
  double left = random.uniform();
  uint32_t last = 0;
  for (uint32_t v = 0; v < row.size(); ++v) {
    if (!(row[v] > 0))
      continue;
    last = v;
    left -= row[v];
    if (left < 0)
      return v;
  }
  return last;
}

} // namespace atelier::planning::argus
