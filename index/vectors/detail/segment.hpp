// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/near_vector.hpp>
#include <atelier/index/vectors/detail/entry.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace atelier::index::detail {

/// Entries that are compared one by one, by their codes. Only those that may be
/// among the nearest by the error of their codes are compared by their numbers,
/// so that a search is exact and yet reads a quarter of the memory.
///
/// Copies share all entries but the newest, so that a changed copy is cheap.
/// Threads: any for const functions.
class segment {
public:
  void append(entry_ptr what);

  /// Replaces all entries.
  void fill(std::span<const entry_ptr> with);

  /// Returns the number of entries, including those that are gone.
  size_t slots() const;

  /// Returns the entries that are not gone, without the first `slots`.
  std::vector<entry_ptr> live_after(size_t slots) const;

  /// Adds the entries that are not gone, that serve `needs`, whose similarity
  /// is not 0, and that are among the `most` nearest of them and of `to`, with
  /// all that are equally near, in any order; others may be added too. Returns
  /// the number of entries that were compared.
  size_t near(std::span<const float> unit, size_t most,
              const planning::needed_work& needs,
              std::vector<near_vector>& to) const;

  /// Returns a bound of the memory of that many entries, without the entries
  /// themselves.
  static uint64_t bytes_of(size_t entries, size_t dimensions);

private:
  struct chunk;

  std::vector<std::shared_ptr<const chunk>> chunks_;
};

} // namespace atelier::index::detail
