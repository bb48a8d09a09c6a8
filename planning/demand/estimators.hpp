// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning {

/// Arrivals per second of the finished windows, oldest first, in a moving mean
/// that weighs the newest with `alpha`, the one before with alpha (1 - alpha),
/// and so on. The weights are divided by their sum, so that few windows are not
/// biased towards 0. Windows without length are left out; none: 0.
/// @pre 0 < alpha <= 1
double arrival_rate(std::span<const demand_window> windows, double alpha);

/// Returns arrivals per second over as many of the newest windows as are alike:
/// twice as many as long as the older half has no more and no fewer than the
/// newer one by two of the deviations that chance gives both: of a steady load
/// one such test in twenty fails. A jump counts at once, as soon as there are
/// enough arrivals to tell it from chance; a steady load is averaged over long.
/// Windows without length are left out; none: 0.
struct recent {
  double rate = 0;
  /// The deviation that chance gives the rate.
  double deviation = 0;
  /// Length of the windows that it is taken over.
  double seconds = 0;
};

recent recent_rate(std::span<const demand_window> windows);

/// Arrivals over long: counts that fade, and begin anew where the newest
/// windows are too many or too few to be the same load.
struct steady_rate {
  double arrived = 0;
  double seconds = 0;
  /// Windows up to here are taken in.
  core::time_point seen;

  /// Requests a second; 0 where nothing was counted.
  double value() const {
    return seconds > 0 ? arrived / seconds : 0;
  }

  /// The deviation that chance gives it.
  double deviation() const {
    return seconds > 0 ? std::sqrt(arrived) / seconds : 0;
  }

  friend bool operator==(const steady_rate&, const steady_rate&) = default;
};

/// Returns the rate with the windows that ended after `before.seen`; what is
/// older than `fading` seconds weighs a third or less. A newest part that is
/// off by more than four deviations of chance replaces all.
/// Source of the deviations: Anscombe, The transformation of Poisson, binomial
/// and negative-binomial data (Biometrika 35, 1948).
/// @pre fading > 0
steady_rate with(steady_rate before, std::span<const demand_window> windows,
                 double fading = 600);

/// Returns `alpha` of a moving mean whose centre of mass lies `samples` back.
double alpha_of_centre(double samples);

/// A moving mean of single values; the first one counts whole.
struct moving_mean {
  double value = 0;
  bool any = false;

  friend bool operator==(const moving_mean&, const moving_mean&) = default;
};

moving_mean with(moving_mean before, double x, double alpha);

/// A switch that turns only after the same answer `periods` times running.
struct slow_switch {
  bool on = false;
  uint32_t run = 0;

  friend bool operator==(const slow_switch&, const slow_switch&) = default;
};

slow_switch with(slow_switch before, bool now_on, uint32_t periods);

/// Returns the middle value, the mean of the two middle ones where there are
/// two; 0 of nothing.
double median(std::vector<double> values);

} // namespace atelier::planning
