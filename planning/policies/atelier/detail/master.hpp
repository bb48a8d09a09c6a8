// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/policies/atelier/programme.hpp>
#include <atelier/planning/solver/linear_program.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace atelier::planning::unified {

/// The devices that a pool may have, and the work that they do.
struct device_range {
  uint32_t least = 0;
  uint32_t most = 0;
  /// The seconds of work per second of n devices are at most rise * n + start.
  double rise = 0;
  double start = 0;
  /// The busy share of a device that a load takes.
  double busy = 1;
};

/// The linear program of a problem over some of its columns.
class master {
public:
  /// Builds the program of any fractions of devices; `busy` is by pool. The
  /// fractions are substituted into the rows of hostings, which keeps the
  /// number of rows small.
  master(const problem& asked, std::vector<double> busy);

  /// Builds the program of counts of devices within ranges, by pool; fractions
  /// between the ends of a range are allowed.
  master(const problem& asked, std::span<const device_range> ranges);

  /// Adds a column; returns false if it was added before, or has no devices to
  /// run on.
  bool add(uint32_t column);

  /// Adds the initial columns: those that are best for their class at some
  /// prices of a device's second, around the price at which all devices are in
  /// use.
  void add_first();

  /// Solves one phase after another. In at most `rounds` rounds of each, it
  /// adds the three columns of each class that would gain most, until the value
  /// is within `gap` of its bound. With `than`, it ends with false as soon as
  /// no value is ahead of that one by more than `noise`, otherwise with true.
  core::result<bool> solve(uint32_t rounds, uint64_t effort, double gap,
                           const phase_values* than = nullptr,
                           double noise = 0);

  /// Returns the result of the last solve; `count` is not set. `bound` includes
  /// the possible gain of columns that were not added.
  decision found() const;

  /// The number of programs solved so far.
  uint32_t solves() const {
    return solves_;
  }

  /// By pool: fractions of devices, of a program without ranges.
  std::vector<double> devices() const;

  /// By pool: the seconds of work per second that answers and loads take, of a
  /// program with ranges.
  std::vector<double> work() const;

  /// By pool: the gain of one more device in the first phase that is not met.
  std::vector<double> worth_of_pools() const;

private:
  // Calls visit(row, factor) for each term of a column.
  template <class Visit>
  void each_term(const column& c, Visit visit) const;

  void add_classes();
  void add_devices_in_parts();
  void add_devices();
  void add_mixes();
  lp_column_id plain_column(double most);
  lp_row_id plain_row(lp_relation is, double bound);
  void begin();
  void term(lp_row_id row, lp_column_id column, double factor);
  // Adds at most `most` columns of each class; returns how many were added.
  uint32_t price(const lp_solution& at, size_t phase, size_t most);
  bool runs(const column& c) const;
  core::result<lp_solution> solve_phase(size_t phase, uint64_t effort,
                                        const lp_basis* from);
  double load_part(uint32_t h) const;

  const problem& asked_;
  // By pool; empty: any fractions.
  std::vector<device_range> ranges_;
  std::vector<double> busy_;
  linear_program lp_;
  std::array<std::vector<double>, 3> gains_;
  std::vector<lp_row_id> class_row_;
  std::vector<std::optional<lp_row_id>> floor_row_;
  std::vector<std::optional<lp_row_id>> fresh_row_;
  std::vector<lp_row_id> hosting_row_;
  std::vector<lp_row_id> kind_row_;
  std::vector<std::optional<lp_row_id>> pool_row_;
  std::vector<std::vector<lp_row_id>> mix_rows_;
  std::array<std::optional<lp_row_id>, 2> cap_;
  std::vector<lp_column_id> refused_;
  std::vector<lp_column_id> load_;
  // The index in the program of the first column that answers requests.
  size_t first_answer_ = 0;
  std::vector<uint32_t> answers_;
  std::vector<char> in_;
  // Columns by class, for pricing.
  std::vector<std::vector<uint32_t>> of_class_;

  // One plus the sum of all rates.
  double scale_ = 1;
  std::array<double, 3> value_{};
  std::array<double, 3> bound_{};
  std::array<lp_solution, 3> at_;
  uint32_t solves_ = 0;
};

} // namespace atelier::planning::unified
