// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/planning/policies/nirvana/eviction.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace atelier::index::detail {

/// The limits on what all tenants keep together, the fraction of the bytes
/// that is reserved for them in equal parts, and the rule by which entries
/// leave.
struct budget {
  uint64_t bytes = 0;
  uint64_t entries = 0;
  /// Fraction of `bytes`, 0..1.
  double floor = 0;
  core::eviction_rule rule = core::eviction_rule::lru;
  /// The number of fixed equal parts into which bytes and entries are divided.
  /// A tenant has one part at most, and only its own entries leave for new
  /// ones. 0: not divided.
  uint64_t parts = 0;
};

/// The uses of an entry.
struct entry_uses {
  /// The last one, as a count that rises with each use of any entry.
  uint64_t last = 0;
  /// The number of steps that all of them skipped.
  uint64_t saved_steps = 0;

  friend bool operator==(const entry_uses&, const entry_uses&) = default;
};

/// Records how many bytes of a budget each tenant keeps, and chooses the
/// entries that leave for a new one. It handles numbers only, no payloads or
/// files.
///
/// A tenant's floor is its part of the reserved bytes: all tenants that keep
/// anything, and the one that is about to, have equal parts. Each tenant's
/// entries leave in the order of the rule (planning::nirvana::place_of). The
/// first one may leave for a new entry if both have the same tenant, or if its
/// tenant keeps its floor without it. Of these first ones, the first by the
/// rule leaves. Towards the floor an entry counts at least as many bytes as
/// the budget has for each entry, so that many small entries, which exhaust
/// the number of entries, are no way past it.
///
/// If the budget is divided, a tenant's entries depend on no other tenant,
/// except that a new entry is not kept if more tenants than parts have used up
/// the whole budget.
///
/// With n entries and tenants, a victim costs O(log n), and so does a change
/// that leaves the number of tenants the same; otherwise the tenants that keep
/// their floor with one number and not with the other cost O(log n) each.
/// Threads: one at a time.
class ledger {
public:
  /// @pre the rule is one of a server
  explicit ledger(budget most);

  /// Adds an entry. Entries with lower numbers were inserted before.
  /// @pre the number is new
  void add(uint64_t number, core::tenant_id whose, uint64_t bytes,
           entry_uses uses);

  /// Notes a use of an entry. Does nothing if the entry is gone.
  /// @param last the count of this use
  void use(uint64_t number, uint64_t last);

  /// Notes that uses of an entry skipped more steps. Does nothing if the entry
  /// is gone.
  void save(uint64_t number, uint64_t steps);

  /// Returns the uses of an entry, or null if the entry is gone.
  const entry_uses* uses_of(uint64_t number) const;

  void remove(uint64_t number);

  /// Returns the entries that must leave so that an entry of `bytes` fits, in
  /// the order in which they leave. Returns nothing if it does not fit,
  /// whatever leaves.
  /// @param beside bytes of the budget that belong to no entry
  std::optional<std::vector<uint64_t>> room_for(core::tenant_id whose,
                                                uint64_t bytes,
                                                uint64_t beside) const;

  /// Returns the entries that must leave so that the others fit: those above
  /// the part of their tenant, and the first by the rule, of any tenant. Such
  /// entries exist if the budget was larger when they were kept.
  std::vector<uint64_t> excess() const;

  /// Returns the minimum that others leave to each of that many tenants, in
  /// bytes as they count towards the floor.
  uint64_t floor_bytes(uint64_t tenants) const;

  uint64_t bytes() const {
    return bytes_;
  }

  uint64_t entries() const {
    return by_number_.size();
  }

private:
  using place = planning::nirvana::eviction_place;

  struct item {
    core::tenant_id whose;
    uint64_t bytes = 0;
    entry_uses uses;
  };

  struct tenant {
    core::tenant_id id;
    /// The places of its entries. The first leaves first.
    std::set<place> order;
    uint64_t bytes = 0;
    /// As its entries count towards its floor.
    uint64_t weight = 0;
  };

  class leaving;

  place place_of(uint64_t number, const item& x) const;
  uint64_t bytes_at(const place& x) const;

  /// Returns how an entry of that many bytes counts towards a floor.
  uint64_t weight_of(uint64_t bytes) const;
  uint64_t weight_at(const place& x) const;

  /// Returns what a tenant keeps without its first entry, by weight.
  uint64_t rest_of(const tenant& x) const;

  /// Add a tenant that has entries to the sets of tenants, and remove it before
  /// its entries change.
  void list(const tenant& x);
  void unlist(const tenant& x);

  /// Updates the floor after the number of tenants has changed.
  void set_floor();

  template <class Change>
  void change(uint64_t number, Change how);

  /// Returns the first entries of a tenant, by its order, that must leave so
  /// that the others and one of `bytes` are within the tenant's part.
  std::optional<std::vector<uint64_t>> room_in_part(core::tenant_id whose,
                                                    uint64_t bytes) const;

  budget most_;
  uint64_t bytes_ = 0;
  std::map<core::tenant_id, tenant> tenants_;
  std::unordered_map<uint64_t, item> by_number_;
  uint64_t floor_ = 0;
  /// Every tenant, by what it keeps without its first entry.
  std::set<std::pair<uint64_t, core::tenant_id>> by_rest_;
  /// The tenants that keep their floor without their first entry, by its place.
  std::set<std::pair<place, core::tenant_id>> givers_;
};

} // namespace atelier::index::detail
