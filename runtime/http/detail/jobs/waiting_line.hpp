// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace atelier::runtime::http::detail {

/// A job that waits.
struct waiting_job {
  const std::string& owner;
  uint32_t priority = 0;
  /// Older jobs have lower numbers.
  uint64_t number = 0;
  uint64_t images = 1;
};

/// The order in which jobs are expected to begin, as the scheduler takes turns:
/// one owner's jobs by priority, then age; owners image by image, all images
/// counting the same.
/// Threads: one at a time.
class waiting_line {
public:
  void enter(const waiting_job& x);

  /// A job that does not wait may leave too.
  void leave(const waiting_job& x);

  /// From 1 on; 0 if it does not wait.
  uint32_t position(const waiting_job& x) const;

  size_t size() const {
    return size_;
  }

private:
  struct place {
    uint32_t priority = 0;
    uint64_t number = 0;
    uint64_t images = 1;
    /// The number of images of this owner's jobs before it.
    uint64_t before = 0;
  };

  /// Sorted, the first one first: a place is found by halving, and new ones
  /// mostly come last.
  using line = std::vector<place>;

  static bool goes_before(const place& a, const place& b);
  static bool begins_before(const place& a, const place& b);
  /// Returns the index of a job; the size if it does not wait.
  static size_t index_of(const line& in, const waiting_job& x);
  /// Counts the images before the places from `first` on.
  static void count(line& of, size_t first);

  /// Only owners with jobs that wait.
  std::map<std::string, line> lines_;
  size_t size_ = 0;
};

} // namespace atelier::runtime::http::detail
