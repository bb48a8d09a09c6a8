// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

namespace atelier::actors {

/// Lanes of the pools; those of devices are the policy's.
inline constexpr core::lane_id recall_lane{0x3FFFFFFD};
inline constexpr core::lane_id finish_lane{0x3FFFFFFE};
inline constexpr core::lane_id prepare_lane{0x3FFFFFFF};
/// Holds rows that must be prepared or finished alone.
inline constexpr core::lane_id pool_suspects_lane{0x7FFFFFFF};

/// Whether a lane is a pool's.
constexpr bool is_pool(core::lane_id lane) {
  return lane == prepare_lane || lane == finish_lane || lane == recall_lane;
}

/// Returns the lane of rows that must run alone beside `lane`.
constexpr core::lane_id alone_lane(core::lane_id lane) {
  return lane == finish_lane ? pool_suspects_lane
                             : core::lane_id{lane.value | 0x40000000};
}

} // namespace atelier::actors
