// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/kept_work.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <utility>

namespace atelier::index::detail {

/// Copies in memory of the payloads that were last written or read. At the
/// bound, the least recently used copies are evicted.
/// Threads: one at a time.
class hot_payloads {
public:
  explicit hot_payloads(uint64_t most_bytes);

  /// Returns the copy of a part of an entry, or null.
  payload find(uint64_t entry, uint32_t steps);

  /// Returns whether a copy of a part exists, which does not count as a use.
  bool holds(uint64_t entry, uint32_t steps) const {
    return by_name_.contains({entry, steps});
  }

  /// Adds a copy unless it is larger than the bound.
  void put(uint64_t entry, uint32_t steps, payload bytes);

  void drop(uint64_t entry);

  uint64_t bytes() const {
    return bytes_;
  }

private:
  using name = std::pair<uint64_t, uint32_t>;
  /// The most recently used copy is first.
  using recency = std::list<std::pair<name, payload>>;
  using place = std::map<name, recency::iterator>::iterator;

  place take_out(place at);

  uint64_t most_;
  uint64_t bytes_ = 0;
  recency copies_;
  std::map<name, recency::iterator> by_name_;
};

} // namespace atelier::index::detail
