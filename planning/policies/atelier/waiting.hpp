// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::planning::unified {

/// How uneven arrivals and service are: squared coefficients of variation.
struct variability {
  /// Poisson arrivals have 1.
  double arrivals = 1;
  /// Equal work has 0; a mix of levels has little.
  double service = 0.25;
};

/// Returns the mean wait of a queue with `servers` equal servers that are busy
/// for the share `busy` of the time, as a multiple of one service. Infinite
/// where `busy` reaches 1.
/// @pre servers > 0 and busy >= 0
/// Source: Allen and Cunneen's approximation of G/G/k with Sakasegawa's
///         exponent for the chance to wait.
double mean_wait(double servers, double busy, const variability& of = {});

/// Returns the largest share of the time that the servers may be busy so that
/// the mean wait is at most `wait` services. It rises with both.
double most_busy(double servers, double wait, const variability& of = {});

} // namespace atelier::planning::unified
