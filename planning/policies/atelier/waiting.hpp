// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::planning::unified {

/// The variability of arrivals and service: squared coefficients of variation.
struct variability {
  /// It is 1 for Poisson arrivals.
  double arrivals = 1;
  /// It is 0 for equal work, and small for a mix of levels.
  double service = 0.25;
};

/// Returns the mean wait of a queue with `servers` equal servers that are busy
/// for the fraction `busy` of the time, as a multiple of one service. It is
/// infinite from a `busy` of 1 on.
/// @pre servers > 0 and busy >= 0
/// Source: Allen and Cunneen's approximation of G/G/k with Sakasegawa's
/// exponent for the probability of waiting.
double mean_wait(double servers, double busy, const variability& of = {});

/// Returns the largest fraction of the time for which the servers may be busy
/// with a mean wait of at most `wait` services. It rises with both parameters.
double most_busy(double servers, double wait, const variability& of = {});

} // namespace atelier::planning::unified
