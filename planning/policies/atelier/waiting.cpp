// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/policies/atelier/waiting.hpp>

#include <cmath>
#include <limits>

namespace atelier::planning::unified {

double mean_wait(double servers, double busy, const variability& of) {
  ATELIER_EXPECTS(servers > 0 && busy >= 0, "servers, and a share of time");
  if (busy >= 1)
    return std::numeric_limits<double>::infinity();
  const double crowded =
    std::pow(busy, std::sqrt(2 * (servers + 1)) - 1) / (servers * (1 - busy));
  return crowded * (of.arrivals + of.service) / 2;
}

double most_busy(double servers, double wait, const variability& of) {
  double low = 0;
  double high = 1;
  // The result is precise to a ten-thousandth.
  for (int i = 0; i < 16; ++i) {
    const double middle = (low + high) / 2;
    (mean_wait(servers, middle, of) <= wait ? low : high) = middle;
  }
  return low;
}

} // namespace atelier::planning::unified
