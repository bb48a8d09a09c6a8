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

/// The linear program of a problem over some of its columns.
class master {
public:
  enum class form : uint8_t {
    /// Counts may be fractions; they are substituted into the rows of hostings,
    /// which keeps the number of rows small.
    parts,
    /// The counts are given.
    fixed,
    /// The solve finds whole counts.
    whole,
  };

  /// `busy` is by pool; `count` is by pool, and only used if the form is fixed.
  master(const problem& asked, form as, std::vector<double> busy,
         std::span<const uint32_t> count = {});

  /// Adds a column; returns false if it was added before, or has no devices to
  /// run on.
  bool add(uint32_t column);

  /// Adds the initial columns: those that are best for their class at some
  /// prices of a device's second, around the price at which all devices are in
  /// use.
  void add_first();

  /// Solves one phase after another. In at most `rounds` rounds of each, it
  /// adds the three columns of each class that would gain most, until the value
  /// is within `gap` of its bound.
  core::result<void> solve(uint32_t rounds, uint64_t effort, double gap);

  /// Returns the result of the last solve; `count` is not set. `bound` includes
  /// the possible gain of columns that were not added.
  decision found() const;

  /// By pool: devices, or fractions of them in the form `parts`.
  std::vector<double> devices() const;

  /// By pool: the gain of one more device in the first phase that is not met.
  std::vector<double> worth_of_pools() const;

private:
  // Calls visit(row, factor) for each term of a column.
  template <class Visit>
  void each_term(const column& c, Visit visit) const;

  void add_classes();
  void add_devices_in_parts();
  void add_devices(std::span<const uint32_t> count);
  void add_mixes();
  lp_column_id plain_column(double most);
  lp_row_id plain_row(lp_relation is, double bound);
  void term(lp_row_id row, lp_column_id column, double factor);
  // Adds at most `most` columns of each class; returns how many were added.
  uint32_t price(const lp_solution& at, size_t phase, size_t most);
  bool runs(const column& c) const;
  core::result<lp_solution> solve_phase(size_t phase, uint64_t effort,
                                        const lp_basis* from);
  double load_part(uint32_t h) const;

  const problem& asked_;
  form form_;
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
  std::vector<lp_column_id> device_;
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
