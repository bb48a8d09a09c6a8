// SPDX-License-Identifier: Apache-2.0
// Built with -ffp-contract=off, as timesteps.cpp is.
#include <atelier/gpu/samplers/detail/sigma_curve.hpp>
#include <atelier/gpu/samplers/detail/timesteps.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

sigma_curve::sigma_curve(std::span<const double> alphas) {
  for (double alpha : alphas) {
    const double a = alpha == 0 ? 0x1p-24 : alpha;
    sigmas_.push_back(std::sqrt((1 - a) / a));
    logs_.push_back(std::log(sigmas_.back()));
  }
}

sigma_curve::place sigma_curve::place_of(double timestep) const {
  const size_t last = sigmas_.size() - 1;
  if (timestep <= 0)
    return {0, 0, 0};
  if (timestep >= static_cast<double>(last))
    return {last, last, 0};
  const double below = std::floor(timestep);
  const auto i = static_cast<size_t>(below);
  return {i, i + 1, timestep - below};
}

double sigma_curve::at(double timestep) const {
  const auto [below, above, part] = place_of(timestep);
  return (sigmas_[above] - sigmas_[below]) * part + sigmas_[below];
}

double sigma_curve::at_by_log(double timestep) const {
  const auto [below, above, part] = place_of(timestep);
  // The exponential of a logarithm may differ in its last bit.
  return below == above
         ? sigmas_[below]
         : std::exp((1 - part) * logs_[below] + part * logs_[above]);
}

double sigma_curve::timestep_of(double sigma) const {
  if (logs_.size() < 2)
    return 0;
  const double log = std::log(std::max(sigma, 1e-10));
  // The largest may be below its neighbour: see the constructor.
  const auto end = logs_.end() - 1;
  const auto above =
    log >= logs_.back() ? end : std::upper_bound(logs_.begin(), end, log);
  const auto i = static_cast<size_t>(std::clamp<std::ptrdiff_t>(
    above - logs_.begin() - 1, 0, end - logs_.begin() - 1));
  const double rise = logs_[i] - logs_[i + 1];
  const double w =
    rise == 0 ? 0 : std::clamp((logs_[i] - log) / rise, 0.0, 1.0);
  const auto low = static_cast<double>(i);
  return (1 - w) * low + w * (low + 1);
}

std::vector<double> karras_sigmas(double largest, double smallest, uint32_t n) {
  constexpr double rho = 7;
  const double high = std::pow(largest, 1 / rho);
  const double low = std::pow(smallest, 1 / rho);
  auto out = linspace(0, 1, n);
  for (double& x : out)
    x = std::pow(high + x * (low - high), rho);
  return out;
}

} // namespace atelier::gpu
