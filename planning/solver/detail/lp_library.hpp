// SPDX-License-Identifier: Apache-2.0
#pragma once

// The border to lp_solve: what `solve` asks of the library. Only lp_solve.cpp
// knows its names.

#include <atelier/planning/solver/linear_program.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace atelier::planning::detail {

/// Taken around all that follows: LUSOL, the factorisation inside lp_solve
/// 5.5.2.5, keeps variables static, and two solves at once would spoil each
/// other's pivots.
std::mutex& lp_library_lock();

/// How the library is asked.
enum class lp_manner : uint8_t {
  usual,
  /// Without scaling and without its "improvements", which rounds otherwise.
  plain,
};

/// Solves `p` by the library alone, its branch and bound included. Where
/// numbers fail, asks again, plainly and from the start.
/// Errors: ec::internal: it refused or gave up; ec::out_of_resources.
/// Threads: under lp_library_lock.
core::result<lp_solution> ask_library(const linear_program& p,
                                      const lp_limits& limits,
                                      const lp_basis* start, lp_manner manner);

/// A programme whose columns need not be whole, solved again and again between
/// bounds of its columns, each time from the start: what was found before does
/// not matter. It has no duals: lp_solve 5.5.2.5 reads beyond its memory when
/// it makes them of a programme that was solved before. Threads: under
/// lp_library_lock.
class relaxation {
public:
  /// `p` is kept by reference.
  explicit relaxation(const linear_program& p);
  ~relaxation();
  relaxation(const relaxation&) = delete;
  relaxation& operator=(const relaxation&) = delete;

  /// Solves between `least` and `most`, by column, within `limits`. The values
  /// are not rounded; there are neither duals nor a basis.
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
