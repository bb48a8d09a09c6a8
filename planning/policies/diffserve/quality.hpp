// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace atelier::planning::diffserve {

/// A measured quality, such as FID (lower is better), by the fraction of images
/// that the light variant answers.
using quality_table = std::vector<std::pair<double, double>>;

/// Returns the table's value at a light share: linear between points, constant
/// outside them; 0 for an empty table.
/// Source: DiffServe's artifact fits a quadratic that misses points by .55.
double quality_at(const quality_table& points, double light_share);

/// Returns the light share of the lowest value, among equal ones the largest
/// share.
double best_light_share(const quality_table& points);

/// Returns the quality of a random choice between both variants at a light
/// share: the line between the ends of the table, since no measurement is
/// published.
double random_quality_at(const quality_table& points, double light_share);

} // namespace atelier::planning::diffserve
