// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

/// The order in which jobs wait: those of higher priority first, then the older
/// ones.
/// Threads: one at a time.
class waiting_line {
public:
  /// @param job its number; those of older jobs are lower
  void enter(uint32_t priority, uint64_t job);

  /// A job that does not wait may leave too.
  void leave(uint32_t priority, uint64_t job);

  /// From 1 on; 0 where it does not wait.
  uint32_t position(uint32_t priority, uint64_t job) const;

  size_t size() const {
    return places_.size();
  }

private:
  /// Lower ones go first.
  using place = std::pair<uint32_t, uint64_t>;

  /// Sorted: a place is found by halving, and new ones mostly come last.
  std::vector<place> places_;
};

} // namespace atelier::runtime::http::detail
