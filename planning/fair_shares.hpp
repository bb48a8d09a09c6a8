// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <map>

namespace atelier::planning {

/// What a tenant asks for of something that is limited, in any unit.
struct fair_claim {
  uint64_t limit = 0;
  /// What all tenants hold together, and what this one holds.
  uint64_t total = 0;
  uint64_t own = 0;
  /// What it asks for.
  uint64_t more = 0;
  /// The number of tenants that hold something, this one included.
  uint64_t tenants = 1;
};

/// Returns whether a claim is granted. Below the limit every claim is. Above
/// it, up to twice the limit, a claim is granted if the tenant's part stays
/// within an equal share of the limit, or if it holds nothing and asks for no
/// more than the limit: tenants that fill the limit do not shut out others. A
/// tenant that is alone gets no more than the limit.
bool is_granted(const fair_claim& x);

/// What each tenant holds of something that is limited. Pure. Every call takes
/// the logarithm of the number of tenants that hold something.
/// Threads: one at a time.
class fair_shares {
public:
  void add(core::tenant_id whose, uint64_t amount);

  /// @pre the tenant holds at least this amount
  void remove(core::tenant_id whose, uint64_t amount);

  uint64_t total() const {
    return total_;
  }

  /// Returns whether a tenant may hold this much more: see is_granted.
  bool grants(core::tenant_id whose, uint64_t more, uint64_t limit) const;

  /// Returns whether a tenant holds less than the mean of all that hold
  /// something.
  bool is_below_mean(core::tenant_id whose) const;

  friend bool operator==(const fair_shares&, const fair_shares&) = default;

private:
  uint64_t of(core::tenant_id whose) const;

  /// Only tenants that hold something.
  std::map<core::tenant_id, uint64_t> held_;
  uint64_t total_ = 0;
};

} // namespace atelier::planning
