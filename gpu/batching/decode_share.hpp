// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

namespace atelier::gpu {

/// Returns whether another part of a decoding may run before the next step of a
/// batch. At least one part runs between two steps, so that pictures end; more
/// do while together they take no longer than a step: a batch is slowed to half
/// its pace at most, and none of its steps waits for a whole decoding.
/// @param spent on parts since the last step
/// @param part what the next one takes, as far as is known: what the last did
/// @param step what the last step took; 0 where there was none
constexpr bool may_decode_more(core::timespan spent, core::timespan part,
                               core::timespan step) {
  return spent.count() == 0 || spent + part <= step;
}

} // namespace atelier::gpu
