// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

namespace atelier::actors {

/// Queues of the pools; the policy defines those of the devices.
inline constexpr core::queue_id device_stage_queue{0x3FFFFFFC};
inline constexpr core::queue_id recall_queue{0x3FFFFFFD};
inline constexpr core::queue_id finish_queue{0x3FFFFFFE};
inline constexpr core::queue_id prepare_queue{0x3FFFFFFF};
/// Holds rows that a pool must prepare or finish alone.
inline constexpr core::queue_id pool_suspects_queue{0x7FFFFFFF};

/// Whether a queue belongs to a pool.
constexpr bool is_pool(core::queue_id queue) {
  return queue == prepare_queue || queue == finish_queue
      || queue == recall_queue || queue == device_stage_queue;
}

/// Returns the queue of the rows of `queue` that must run alone.
constexpr core::queue_id alone_queue(core::queue_id queue) {
  return queue == finish_queue || queue == device_stage_queue
         ? pool_suspects_queue
         : core::queue_id{queue.value | 0x40000000};
}

} // namespace atelier::actors
