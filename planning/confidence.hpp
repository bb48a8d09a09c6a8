// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace atelier::planning {

/// How many standard errors apart two means lie before one counts as the
/// higher: one-sided 95 % of the normal distribution.
inline constexpr double confident_errors = 1.6448536269514722;

/// Returns the standard error of a mean over `pictures` that differ by
/// `deviation`; without one by the most that values in 0..1 with that mean can
/// (Bhatia and Davis 2000). 0 of no pictures: the mean is taken at its word.
double standard_error(double mean, uint32_t pictures, double deviation);

/// A share and a value.
using curve = std::vector<std::pair<double, double>>;

/// Returns the nearest curve, by least squares, that falls to one least value
/// and rises after it. Of equally near ones the one with the last least value.
curve one_valley(const curve& points);

/// Returns a profile by which no comparison is decided by chance:
/// - of measured variants those that are not below the best of a group by more
///   than confident_errors standard errors of the difference have one quality,
///   the mean over all their pictures; so have levels of a ladder;
/// - a cascade's FID differs from its heavy variant's alone where it does so by
///   more than confident_errors of `fid_error`, and has one valley.
/// What names no pictures and no error is taken at its word.
profile beyond_chance(profile known);

} // namespace atelier::planning
