// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/active_tenants.hpp>
#include <atelier/actors/scheduler/orders.hpp>
#include <atelier/actors/scheduler/workers.hpp>
#include <atelier/core/ids.hpp>

#include <boost/container/flat_set.hpp>

#include <vector>

namespace atelier::actors {

using tenant_set = boost::container::flat_set<core::tenant_id>;

/// Returns the named tenants that have rows at a worker.
tenant_set tenants_at(const worker& w, const orders& given);

/// Returns the named tenants that have rows at any device.
tenant_set tenants_at_devices(const workers& all, const orders& given);

/// Returns the tenants that may take no seat of a device now, sorted: its last
/// seats are for tenants that have none there, one at least for each active
/// tenant without a seat at any device.
std::vector<core::tenant_id> leave_seats(const worker& w, const workers& all,
                                         const orders& given,
                                         const active_tenants& active);

} // namespace atelier::actors
