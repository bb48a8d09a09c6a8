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

/// The most that all tenants keep together, and the share of the bytes that is
/// reserved for them in equal parts.
struct budget {
  uint64_t bytes = 0;
  uint64_t entries = 0;
  /// 0..1.
  double floor = 0;
};

/// Who keeps how many bytes of a budget, and which entries leave for a new one.
/// Nothing but numbers: it knows neither payloads nor files.
///
/// A tenant's floor is its part of the reserved bytes: all tenants that keep
/// anything, and the one that is about to, have equal parts. For a new entry
/// leave the least recently used of its tenant and of those tenants that keep
/// their floor without it; of each tenant the least recently used leaves first.
/// Threads: one at a time.
class ledger {
public:
  explicit ledger(budget most);

  /// Enters an entry, as last used at `used`.
  /// @pre the number is new, and `used` is not less than that of any other
  void add(uint64_t number, core::tenant_id whose, uint64_t bytes,
           uint64_t used);

  /// Makes an entry its tenant's most recently used, at `used`; nothing happens
  /// where it is gone.
  void use(uint64_t number, uint64_t used);

  void remove(uint64_t number);

  /// Returns the entries that leave so that an entry of `bytes` fits, the first
  /// to leave first; none: it does not fit, whatever may leave.
  /// @param beside bytes of the budget that no entry has
  std::optional<std::vector<uint64_t>> room_for(core::tenant_id whose,
                                                uint64_t bytes,
                                                uint64_t beside) const;

  /// Returns the least recently used entries, whoever's, without which the
  /// others fit: the budget was larger when they were kept.
  std::vector<uint64_t> excess() const;

  /// Returns the least that others leave to each of so many tenants.
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
    /// The least recently used first.
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
