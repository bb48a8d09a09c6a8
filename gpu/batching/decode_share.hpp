// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

namespace atelier::gpu {

/// The longest that a batch waits for decoding between two of its steps, in
/// durations of a step. With 1, an image that takes little longer than a step
/// waits for another step, which costs it more than it saves the others: with
/// the shipped `turbo`, the mean latency was measured to rise by 19 %
/// (bench/RESULTS.md).
inline constexpr int decode_steps = 2;

/// Returns whether another part of a decoding may run before the next step of a
/// batch. At least one part runs between two steps, so that images are
/// completed. More parts run while they together take no longer than
/// `decode_steps` steps: a batch is slowed to a third of its pace at most, and
/// none of its steps waits for a whole decoding that takes longer.
/// @param spent time spent on parts since the last step
/// @param part expected duration of the next part: that of the last one
/// @param step duration of the last step; 0 before the first
constexpr bool may_decode_more(core::timespan spent, core::timespan part,
                               core::timespan step) {
  return spent.count() == 0 || spent + part <= decode_steps * step;
}

} // namespace atelier::gpu
