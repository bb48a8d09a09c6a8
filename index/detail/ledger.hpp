// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/planning/policies/nirvana/eviction.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
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

/// The uses of an entry or of one of its payloads.
struct entry_uses {
  /// The last one, as a count that rises with each use of any entry.
  uint64_t last = 0;
  /// The number of steps that all of them skipped.
  uint64_t saved_steps = 0;

  friend bool operator==(const entry_uses&, const entry_uses&) = default;
};

/// A payload of an entry: a state after that many steps, or its image if
/// `steps` is 0.
struct ledger_part {
  uint32_t steps = 0;
  uint64_t bytes = 0;
  entry_uses uses;
};

/// The tenant that can find an entry; none: no tenant can, because the entry
/// was kept for other models.
using finder = std::optional<core::tenant_id>;

/// An entry as the ledger records it.
struct ledger_entry {
  finder whose;
  /// The bytes by which it counts in addition to its payloads.
  uint64_t overhead = 0;
  entry_uses uses;
  /// At least one; each has other steps.
  std::vector<ledger_part> parts;

  uint64_t bytes() const;
};

/// What leaves for others: an entry, or some of its payloads.
struct victim {
  uint64_t number = 0;
  /// The steps of the payloads that leave, in their order; empty if the entry
  /// leaves with all its payloads.
  std::vector<uint32_t> steps{};

  friend bool operator==(const victim&, const victim&) = default;
};

/// Records how many bytes of a budget each tenant keeps, and chooses what
/// leaves for a new entry. It handles numbers only, no payloads or files.
///
/// Under a rule for payloads (planning::nirvana::is_by_payload) each payload is
/// a unit that leaves alone, and an entry leaves with its last payload; under
/// the other rules an entry with all its payloads is a unit.
///
/// A tenant's floor is its part of the reserved bytes: all tenants that keep
/// anything, and the one that is about to, have equal parts. Each tenant's
/// units leave in the order of the rule (planning::nirvana::place_of). The
/// first one may leave for a new entry if both have the same tenant, or if its
/// tenant keeps its floor without it. Of these first ones, the first by the
/// rule leaves. Towards the floor an entry counts at least as many bytes as
/// the budget has for each entry, so that many small entries, which exhaust
/// the number of entries, are no way past it. Entries that no tenant finds have
/// no floor, and take nothing of a tenant's.
///
/// If the budget is divided, a tenant's entries depend on no other tenant,
/// except that a new entry is not kept if more tenants than parts have used up
/// the whole budget.
///
/// With n units and tenants, a unit that leaves costs O(log n), and so does a
/// change that leaves the number of tenants the same; otherwise the tenants
/// that keep their floor with one number and not with the other cost O(log n)
/// each.
/// Threads: one at a time.
class ledger {
public:
  /// @pre the rule is one of a server
  explicit ledger(budget most);

  /// Adds an entry. Entries with lower numbers were inserted before.
  /// @pre the number is new
  void add(uint64_t number, ledger_entry entry);

  /// Notes a use of an entry. Does nothing if the entry is gone.
  /// @param last the count of this use
  void use(uint64_t number, uint64_t last);

  /// Notes that the last use of an entry was one of its payload of `steps`, and
  /// skipped `skipped` more. Does nothing if the payload is gone.
  void save(uint64_t number, uint32_t steps, uint64_t skipped);

  /// Returns an entry, or null if it is gone. The pointer is valid until the
  /// next change.
  const ledger_entry* find(uint64_t number) const;

  /// Does nothing if the entry is gone.
  void remove(uint64_t number);

  /// Removes some of an entry's payloads, but not all.
  /// @pre the entry has these payloads and others
  void remove(uint64_t number, std::span<const uint32_t> steps);

  /// Returns what must leave so that an entry of `bytes` fits, in the order in
  /// which entries begin to leave. Returns nothing if it does not fit, whatever
  /// leaves.
  /// @param beside bytes of the budget that belong to no entry
  std::optional<std::vector<victim>> room_for(core::tenant_id whose,
                                              uint64_t bytes,
                                              uint64_t beside) const;

  /// Returns what must leave so that the rest fits: of the tenants above their
  /// parts, and the first by the rule, of any tenant. Something does if the
  /// budget was larger when the entries were kept.
  std::vector<victim> excess() const;

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

  struct tenant {
    finder id;
    /// The places of its units. The first leaves first.
    std::set<place> order;
    uint64_t entries = 0;
    uint64_t bytes = 0;
    /// As its entries count towards its floor.
    uint64_t weight = 0;
  };

  class departure;
  class queue;

  bool is_by_payload() const;

  /// Returns the places of an entry's units.
  std::vector<place> places_of(uint64_t number, const ledger_entry& x) const;

  /// Returns how an entry of that many bytes counts towards a floor.
  uint64_t weight_of(uint64_t bytes) const;

  /// Returns what a tenant keeps without its first unit, by weight.
  uint64_t rest_of(const tenant& x) const;

  /// Add a tenant that has entries to the sets of tenants, and remove it before
  /// its entries change.
  void list(const tenant& x);
  void unlist(const tenant& x);

  /// Returns how many tenants have a floor.
  uint64_t floors() const;

  /// Updates the floor after the number of tenants has changed.
  void set_floor();

  /// Calls `how` with an entry that it may change, and keeps the order.
  template <class Change>
  void change(uint64_t number, Change how);

  /// Lets the first units of a tenant leave, by its order, so that the others
  /// and an entry of `bytes` are within the tenant's part.
  /// @pre such an entry alone is within it
  void leave_in_part(const tenant& own, uint64_t bytes, uint64_t entries,
                     departure& out) const;

  budget most_;
  uint64_t bytes_ = 0;
  std::map<finder, tenant> tenants_;
  std::unordered_map<uint64_t, ledger_entry> by_number_;
  uint64_t floor_ = 0;
  /// Every tenant, by what it keeps without its first unit.
  std::set<std::pair<uint64_t, finder>> by_rest_;
  /// The tenants that keep their floor without their first unit, by its place.
  std::set<std::pair<place, finder>> givers_;
};

} // namespace atelier::index::detail
