// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/kept_work.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
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

  /// Drops the copy of one part.
  void drop(uint64_t entry, uint32_t steps);

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

/// The copies of all tenants' payloads: on one shelf, or on one of its own for
/// each tenant, so that a tenant's copies depend on no other tenant.
/// Threads: one at a time.
class hot_shelves {
public:
  /// @param parts the maximum number of shelves, each with an equal part of the
  ///        bytes; 0: one shelf for all
  hot_shelves(uint64_t most_bytes, uint64_t parts);

  /// Returns the shelf of a tenant; null if all shelves are others'.
  hot_payloads* shelf_of(std::string_view tenant);

  /// Whether there is a copy of a part of an entry. That is no use of it.
  bool holds(std::string_view tenant, uint64_t entry, uint32_t steps) const;

  void drop(std::string_view tenant, uint64_t entry);
  void drop(std::string_view tenant, uint64_t entry, uint32_t steps);

private:
  template <class How>
  void change(std::string_view tenant, How how);

  uint64_t most_;
  uint64_t parts_;
  std::map<std::string, hot_payloads, std::less<>> shelves_;
};

} // namespace atelier::index::detail
