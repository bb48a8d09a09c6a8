// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/route.hpp>

#include <cstdint>
#include <variant>

namespace atelier::planning {

/// Run this leg of the route next.
struct run_leg {
  uint32_t leg = 0;

  friend bool operator==(const run_leg&, const run_leg&) = default;
};

/// Answer with the picture of this entry of facts::done.
struct answer_with {
  uint32_t done = 0;

  friend bool operator==(const answer_with&, const answer_with&) = default;
};

/// The request has no picture and nothing is left to run.
struct give_up {
  core::ec why = core::ec::internal;

  friend bool operator==(const give_up&, const give_up&) = default;
};

using action = std::variant<run_leg, answer_with, give_up>;

/// Returns what comes next for a request on `along`, after the legs in
/// `known.done`. A leg with a gate answers if its score reaches the
/// threshold; a leg that failed goes on to the next one that needs no picture
/// of it. After the last leg: its picture; where that failed, or did not pass
/// its gate, the best picture so far; where there is none, the failure.
action walk(const route& along, const facts& known, const plan& in_force);

/// Returns what becomes of a request that is late: the best picture so far
/// where its route says so and there is one, else ec::deadline_missed.
action walk_late(const route& along, const facts& known);

} // namespace atelier::planning
