// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace atelier::planning {

/// The difference, in standard errors, at which one mean counts as higher than
/// another: one-sided 95 % of the normal distribution.
inline constexpr double confident_errors = 1.6448536269514722;

/// Returns the standard error of a mean over `images` values with the
/// standard deviation `deviation`; without a deviation, with the largest one
/// possible for values in 0..1 with that mean (Bhatia and Davis 2000). 0 for no
/// images: the mean counts as exact.
double standard_error(double mean, uint32_t images, double deviation);

/// A share and a value.
using curve = std::vector<std::pair<double, double>>;

/// Returns the nearest curve, by least squares, that falls to one minimum and
/// rises after it. Among equally near ones, the one with the last minimum.
curve one_valley(const curve& points);

/// Returns a profile in which chance decides no comparison:
/// - measured variants that are not below the best of a group by more than
/// confident_errors standard errors of the difference get one quality, the mean
/// over all their images; levels of a ladder get the same treatment;
/// - a cascade's FID differs from its heavy variant's only if it does so by
/// more than confident_errors of `fid_error`, and has one minimum.
/// Values without a number of images or an error count as exact.
profile beyond_chance(profile known);

} // namespace atelier::planning
