// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace atelier::index::detail {

/// The limits on what all tenants keep together, and the fraction of the bytes
/// that is reserved for them in equal parts.
struct budget {
  uint64_t bytes = 0;
  uint64_t entries = 0;
  /// Fraction of `bytes`, 0..1.
  double floor = 0;
};

/// Records how many bytes of a budget each tenant keeps, and chooses the
/// entries that leave for a new one. It handles numbers only, no payloads or
/// files.
///
/// A tenant's floor is its part of the reserved bytes: all tenants that keep
/// anything, and the one that is about to, have equal parts. An entry may leave
/// for a new one if both have the same tenant, or if its tenant keeps its floor
/// without it. The least recently used of these entries leaves first.
/// Threads: one at a time.
class ledger {
public:
  explicit ledger(budget most);

  /// Adds an entry that was last used at `used`.
  /// @pre the number is new, and `used` is not less than that of any other
  void add(uint64_t number, core::tenant_id whose, uint64_t bytes,
           uint64_t used);

  /// Makes an entry its tenant's most recently used, at `used`. Does nothing if
  /// the entry is gone.
  void use(uint64_t number, uint64_t used);

  void remove(uint64_t number);

  /// Returns the entries that must leave so that an entry of `bytes` fits, in
  /// the order in which they leave. Returns nothing if it does not fit,
  /// whatever leaves.
  /// @param beside bytes of the budget that belong to no entry
  std::optional<std::vector<uint64_t>> room_for(core::tenant_id whose,
                                                uint64_t bytes,
                                                uint64_t beside) const;

  /// Returns the entries that must leave so that the others fit: the least
  /// recently used ones, of any tenant. Such entries exist if the budget was
  /// larger when they were kept.
  std::vector<uint64_t> excess() const;

  /// Returns the minimum that others leave to each of that many tenants, in
  /// bytes.
  uint64_t floor_bytes(uint64_t tenants) const;

  uint64_t bytes() const {
    return bytes_;
  }

  uint64_t entries() const {
    return by_number_.size();
  }

private:
  struct item {
    uint64_t number = 0;
    uint64_t bytes = 0;
    uint64_t used = 0;
  };

  struct tenant {
    /// The least recently used item is first.
    std::list<item> items;
    uint64_t bytes = 0;
  };

  struct place {
    core::tenant_id whose;
    std::list<item>::iterator at;
  };

  budget most_;
  uint64_t bytes_ = 0;
  std::map<core::tenant_id, tenant> tenants_;
  std::unordered_map<uint64_t, place> by_number_;
};

} // namespace atelier::index::detail
