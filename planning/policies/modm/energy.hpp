// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::planning::modm {

/// The power of one kind of device, in watts.
struct power {
  double busy = 0;
  double idle = 0;
  double loading = 0;
};

/// The time that a device spent in each state, in seconds.
struct device_time {
  double busy = 0;
  double idle = 0;
  double loading = 0;
};

/// Returns joules.
constexpr double energy(const power& of, const device_time& over) {
  return of.busy * over.busy + of.idle * over.idle + of.loading * over.loading;
}

/// Returns the fraction of the energy per image that is saved compared with
/// `baseline`; 0 if either made no images.
/// Source: MoDM, appendix A.4.
constexpr double energy_saved(double joules, double images, double baseline,
                              double baseline_images) {
  if (!(images > 0) || !(baseline_images > 0) || !(baseline > 0))
    return 0;
  return 1 - (joules / images) / (baseline / baseline_images);
}

} // namespace atelier::planning::modm
