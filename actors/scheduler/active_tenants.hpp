// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

namespace atelier::actors {

/// The named tenants that have requests, or had one a moment ago: a client that
/// sends its next request after each answer is one of them all the time. Others
/// leave them seats and slots. Pure.
/// Threads: one at a time.
class active_tenants {
public:
  /// How long a tenant without requests counts.
  static constexpr core::timespan remembered = std::chrono::seconds{2};

  /// Sets the time of the next calls.
  void set_time(core::time_point now);

  /// Notes a request of a tenant; the unnamed tenant has no effect.
  void came(core::tenant_id whose);

  /// Notes that a request of a tenant ended.
  void left(core::tenant_id whose);

  /// Forgets the tenants that are no longer active. Returns whether there were
  /// any, so that slots are no longer left for them.
  bool forget_departed();

  /// Returns the number of active tenants without this one, and without those
  /// for which `has` returns true.
  size_t count_others(core::tenant_id whose,
                      const std::function<bool(core::tenant_id)>& has) const;

private:
  struct entry {
    uint32_t requests = 0;
    /// When the last one of them ended.
    core::time_point ended;
  };

  bool is_over(const entry& x) const;

  std::map<core::tenant_id, entry> entries_;
  core::time_point now_;
};

} // namespace atelier::actors
