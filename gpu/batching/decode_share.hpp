// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

namespace atelier::gpu {

/// Steps' times that a batch waits for decodings between two of its steps, at
/// most. With 1 a picture that takes little longer than a step waits for one
/// more, which costs it more than it saves the others: measured with the
/// shipped `turbo`, the mean latency rises by 19 % (bench/RESULTS.md).
inline constexpr int decode_steps = 2;

/// Returns whether another part of a decoding may run before the next step of a
/// batch. At least one part runs between two steps, so that pictures end; more
/// do while together they take no longer than `decode_steps` steps: a batch is
/// slowed to a third of its pace at most, and none of its steps waits for a
/// whole decoding that is longer.
/// @param spent on parts since the last step
/// @param part what the next one takes, as far as is known: what the last did
/// @param step what the last step took; 0 where there was none
constexpr bool may_decode_more(core::timespan spent, core::timespan part,
                               core::timespan step) {
  return spent.count() == 0 || spent + part <= decode_steps * step;
}

} // namespace atelier::gpu
