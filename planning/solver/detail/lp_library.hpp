// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface to lp_solve for `solve`. Only lp_solve.cpp uses the library's
// names.

#include <atelier/planning/solver/linear_program.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace atelier::planning::detail {

/// Returns the lock for all functions below: LUSOL, the factorisation inside
/// lp_solve 5.5.2.5, keeps variables static, and two solves at once would
/// corrupt each other's pivots.
std::mutex& lp_library_lock();

/// How the library is called.
enum class lp_manner : uint8_t {
  usual,
  /// Without scaling and without its "improvements", which rounds differently.
  plain,
};

/// Solves `p` by the library only, its branch and bound included. If that fails
/// numerically, it solves again, plainly and from the start.
/// Errors: ec::internal: the library refused the program or failed;
/// ec::out_of_resources.
/// Threads: under lp_library_lock.
core::result<lp_solution> ask_library(const linear_program& p,
                                      const lp_limits& limits,
                                      const lp_basis* start, lp_manner manner);

/// A program whose columns need not be whole, solved repeatedly between bounds
/// of its columns, each time from the start: earlier solutions do not matter.
/// It has no duals: lp_solve 5.5.2.5 reads outside its memory when it computes
/// them for a program that was solved before.
/// Threads: under lp_library_lock.
class relaxation {
public:
  /// `p` is kept by reference.
  explicit relaxation(const linear_program& p);
  ~relaxation();
  relaxation(const relaxation&) = delete;
  relaxation& operator=(const relaxation&) = delete;

  /// Solves between `least` and `most`, by column, within `limits`. The values
  /// are not rounded; the result has neither duals nor a basis.
  /// Errors: as those of ask_library.
  core::result<lp_solution> solve(const std::vector<double>& least,
                                  const std::vector<double>& most,
                                  const lp_limits& limits);

private:
  struct impl;
  const linear_program& program_;
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::planning::detail
