// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace atelier::planning {

/// A variant's measured steps as a table, filled up to a grid of all batches
/// and sizes on which the time never falls in either direction. To make one
/// costs many times what it costs to ask it: who asks for every request keeps
/// it.
/// Threads: any may ask.
class step_table {
public:
  /// @pre `points` is not empty
  explicit step_table(const std::vector<step_cost>& points);

  /// Returns the predicted time of one step over `batch` rows of `px`, as
  /// step_time (profile.hpp) does.
  /// @pre batch > 0
  core::timespan at(uint32_t batch, core::extent px) const;

private:
  struct point {
    double x = 0;
    double y = 0;
  };

  static void keep_once(std::vector<double>& values);
  static void add_rising(std::vector<point>& points, double x, double y);
  static double line_at(const std::vector<point>& points, double x);

  /// Nanoseconds.
  double grid_at(double batch, double px) const;
  double plain_at(double batch, double px) const;

  /// The only point; time is proportional to batch and pixels then.
  std::optional<step_cost> alone_;
  std::vector<double> batches_;
  std::vector<double> sizes_;
  /// Nanoseconds by batch, a row for each size.
  std::vector<std::vector<point>> rows_;
};

/// Returns the tables of all variants of `p`.
std::vector<step_table> step_tables_of(const profile& p);

} // namespace atelier::planning
