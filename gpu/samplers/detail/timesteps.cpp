// SPDX-License-Identifier: Apache-2.0
// Built with -ffp-contract=off: numpy multiplies, rounds and adds, and the
// difference is visible in halves that are rounded to a timestep.
#include <atelier/gpu/samplers/detail/timesteps.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

std::vector<double> linspace(double first, double last, uint32_t n) {
  std::vector<double> out(n, first);
  if (n < 2)
    return out;
  const double step = (last - first) / (n - 1);
  for (uint32_t i = 0; i < n; ++i)
    out[i] = i * step + first;
  out.back() = last;
  return out;
}

std::vector<double> linspace_timesteps(uint32_t train, uint32_t n) {
  auto out = linspace(0, train - 1.0, n);
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<double> sgm_timesteps(uint32_t train, uint32_t n) {
  auto out = linspace_timesteps(train, n + 1);
  out.pop_back();
  return out;
}

std::vector<double> leading_timesteps(uint32_t ratio, uint32_t n,
                                      uint32_t lowest, int32_t offset) {
  std::vector<double> out(n);
  for (uint32_t i = 0; i < n; ++i)
    out[i] = double{1} * (lowest + n - 1 - i) * ratio + offset;
  return out;
}

std::vector<double> trailing_timesteps(uint32_t train, uint32_t n) {
  // numpy.arange uses the difference of its first two values as the step.
  const double first = train;
  const double step = (first - first / n) - first;
  std::vector<double> out(n);
  for (uint32_t i = 0; i < n; ++i)
    out[i] = std::nearbyint(first + i * step) - 1;
  return out;
}

} // namespace atelier::gpu
