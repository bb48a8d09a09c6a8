// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning {

/// A table of numbers, row by row.
struct table {
  size_t rows = 0;
  size_t columns = 0;
  std::vector<double> cells;

  table() = default;

  table(size_t r, size_t c, double value = 0)
    : rows(r), columns(c), cells(r * c, value) {}

  double& at(size_t r, size_t c) {
    return cells[r * columns + c];
  }

  double at(size_t r, size_t c) const {
    return cells[r * columns + c];
  }

  friend bool operator==(const table&, const table&) = default;
};

/// Moves whole units from sources to sinks at minimum cost: the transportation
/// problem, by successive cheapest paths. If several paths are cheapest, it
/// takes the first one in index order; the same input gives the same flow.
/// Returns flow[source][sink]; it moves as many units as possible, the smaller
/// of both sums. Costs may be negative; an infinite cost forbids a pair.
/// @pre `costs` has a row for each supply and a column for each need
std::vector<std::vector<int64_t>> transport(std::span<const int64_t> supply,
                                            std::span<const int64_t> need,
                                            const table& costs);

/// Does the same for fractions: both sides are scaled to the same sum, that of
/// `supply`, and the sums of rows and columns are exact to 1e-12 of it.
/// @pre the shares are finite and not negative
table transport_shares(std::span<const double> supply,
                       std::span<const double> need, const table& costs);

} // namespace atelier::planning
