// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning {

/// Returns the arrivals per second of the finished windows, oldest first, as a
/// moving mean that weights the newest with `alpha`, the one before with alpha
/// (1 - alpha), and so on. The weights are divided by their sum, so that few
/// windows are not biased towards 0. Windows without length are skipped;
/// without windows the rate is 0.
/// @pre 0 < alpha <= 1
double arrival_rate(std::span<const demand_window> windows, double alpha);

/// The arrival rate of the newest windows.
struct recent {
  double rate = 0;
  /// The standard deviation of the rate by chance.
  double deviation = 0;
  /// The length of the windows that the rate is taken over.
  double seconds = 0;
};

/// Returns the arrivals per second over as many of the newest windows as belong
/// to one load. Their number doubles as long as the arrivals of the older half
/// differ from those of the newer half by at most two standard deviations of
/// chance: with a steady load, one such test in twenty fails. A jump counts at
/// once, as soon as there are enough arrivals to distinguish it from chance; a
/// steady load is averaged over a long time. Windows without length are
/// skipped; without windows the rate is 0.
recent recent_rate(std::span<const demand_window> windows);

/// The arrivals over a long time: counts that fade, and start again when the
/// newest windows have too many or too few arrivals to belong to the same load.
struct steady_rate {
  double arrived = 0;
  double seconds = 0;
  /// The windows up to this time are included.
  core::time_point seen;

  /// Returns requests per second; 0 if nothing was counted.
  double value() const {
    return seconds > 0 ? arrived / seconds : 0;
  }

  /// Returns the standard deviation of the rate by chance.
  double deviation() const {
    return seconds > 0 ? std::sqrt(arrived) / seconds : 0;
  }

  friend bool operator==(const steady_rate&, const steady_rate&) = default;
};

/// Returns the rate including the windows that ended after `before.seen`;
/// windows older than `fading` seconds have a weight of a third or less. If the
/// newest part is off by more than four standard deviations, it replaces
/// everything else.
/// Source of the deviations: Anscombe, The transformation of Poisson, binomial
/// and negative-binomial data (Biometrika 35, 1948).
/// @pre fading > 0
steady_rate with(steady_rate before, std::span<const demand_window> windows,
                 double fading = 600);

/// Returns the `alpha` of a moving mean whose centre of mass is `samples` back.
double alpha_of_centre(double samples);

/// A moving mean of single values; the first value has the full weight.
struct moving_mean {
  double value = 0;
  bool any = false;

  friend bool operator==(const moving_mean&, const moving_mean&) = default;
};

moving_mean with(moving_mean before, double x, double alpha);

/// A switch that turns only after the same answer `periods` times in a row.
struct slow_switch {
  bool on = false;
  uint32_t run = 0;

  friend bool operator==(const slow_switch&, const slow_switch&) = default;
};

slow_switch with(slow_switch before, bool now_on, uint32_t periods);

/// Returns the middle value, or the mean of the two middle values; 0 for no
/// values.
double median(std::vector<double> values);

} // namespace atelier::planning
