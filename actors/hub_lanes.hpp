// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

namespace atelier::actors {

/// Queues of the pools; the policy defines those of the devices.
inline constexpr core::lane_id recall_lane{0x3FFFFFFD};
inline constexpr core::lane_id finish_lane{0x3FFFFFFE};
inline constexpr core::lane_id prepare_lane{0x3FFFFFFF};
/// Holds rows that must be prepared or finished alone.
inline constexpr core::lane_id pool_suspects_lane{0x7FFFFFFF};

/// Whether a queue belongs to a pool.
constexpr bool is_pool(core::lane_id lane) {
  return lane == prepare_lane || lane == finish_lane || lane == recall_lane;
}

/// Returns the queue of the rows of `lane` that must run alone.
constexpr core::lane_id alone_lane(core::lane_id lane) {
  return lane == finish_lane ? pool_suspects_lane
                             : core::lane_id{lane.value | 0x40000000};
}

} // namespace atelier::actors
