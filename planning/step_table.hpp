// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

/// The measured steps of a variant as a table, extended to a grid of all
/// batches and sizes on which the time never falls in either direction. Making
/// a table costs many times more than a lookup: callers that look up every
/// request keep it.
/// Threads: any may read it.
class step_table {
public:
  /// @pre `points` is not empty
  explicit step_table(const std::vector<step_cost>& points);

  /// Returns the predicted time of one step over `batch` rows of `px`, as
  /// step_time (profile.hpp) does.
  /// @pre batch > 0
  core::timespan at(uint32_t batch, core::extent px) const {
    return at(batch, px.pixels());
  }

  /// Does the same for rows of `pixels` pixels.
  core::timespan at(uint32_t batch, uint64_t pixels) const;

  /// Does the same for a number of rows that need not be whole, because some
  /// take fewer places (row_work::rows).
  /// @pre rows > 0
  core::timespan at_rows(double rows, core::extent px) const;

private:
  struct point {
    double x = 0;
    double y = 0;
  };

  static void keep_once(std::vector<double>& values);
  static void add_rising(std::vector<point>& points, double x, double y);
  static double line_through(const point& a, const point& b, double x);
  static double line_at(const std::vector<point>& points, double x);

  /// Returns nanoseconds.
  double grid_at(double batch, double px) const;
  core::timespan predicted(double rows, double px) const;
  double plain_at(double batch, double px) const;

  /// The only point; then time is proportional to batch and pixels.
  std::optional<step_cost> alone_;
  std::vector<double> batches_;
  std::vector<double> sizes_;
  /// Nanoseconds by batch, one row per size.
  std::vector<std::vector<point>> rows_;
};

/// The costs of a variant and the table of its steps.
struct variant_table {
  variant_profile costs;
  step_table steps;
};

/// The tables of all variants of a profile, by kind of device.
/// Threads: any may read it.
class kind_tables {
public:
  explicit kind_tables(const profile& p);

  /// Returns the costs that the profile has for any kind.
  /// @pre the profile knows the variant
  const variant_table& of(core::variant_id variant) const;

  /// Returns the costs on devices of this kind (kinds.hpp).
  /// @pre the profile knows the variant
  const variant_table& of(core::variant_id variant,
                          std::string_view kind) const;

  /// Returns the predicted time of one step over `batch` rows of `px` that are
  /// of these variants, which have the same weights: the mean of what the
  /// profile says for each row.
  /// @param batch need not be whole (row_work::rows)
  /// @pre the profile knows the variants, `rows` is not empty, and batch > 0
  core::timespan shared_step(std::span<const core::variant_id> rows,
                             std::string_view kind, double batch,
                             core::extent px) const;

private:
  /// By variant: the tables for any kind, then for each kind that the profile
  /// lists.
  std::vector<variant_table> any_;
  std::vector<std::pair<std::string, std::vector<variant_table>>> kinds_;
};

} // namespace atelier::planning
