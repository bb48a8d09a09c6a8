// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::planning::modm {

/// What one kind of device draws, in watts.
struct power {
  double busy = 0;
  double idle = 0;
  double loading = 0;
};

/// How long a device did what, in seconds.
struct device_time {
  double busy = 0;
  double idle = 0;
  double loading = 0;
};

/// Returns joules.
constexpr double energy(const power& of, const device_time& over) {
  return of.busy * over.busy + of.idle * over.idle + of.loading * over.loading;
}

/// Returns the share of energy for each picture that is saved against
/// `baseline`; 0 where either made no picture.
/// Source: MoDM, appendix A.4.
constexpr double energy_saved(double joules, double pictures, double baseline,
                              double baseline_pictures) {
  if (!(pictures > 0) || !(baseline_pictures > 0) || !(baseline > 0))
    return 0;
  return 1 - (joules / pictures) / (baseline / baseline_pictures);
}

} // namespace atelier::planning::modm
