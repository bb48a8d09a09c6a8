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

/// Answer with the image of this entry of facts::done.
struct answer_with {
  uint32_t done = 0;

  friend bool operator==(const answer_with&, const answer_with&) = default;
};

/// The request has no image and no leg left to run.
struct give_up {
  core::ec why = core::ec::internal;

  friend bool operator==(const give_up&, const give_up&) = default;
};

using action = std::variant<run_leg, answer_with, give_up>;

/// Returns the next move of a request on `along`, after the legs in
/// `known.done`. A leg with a gate answers if its score reaches the threshold.
/// After a failed leg, the request continues with the next leg that needs no
/// image of it. After the last leg, the answer is its image; if that leg
/// failed, or did not pass its gate, the best image so far; if there is no
/// image, the failure.
action walk(const route& along, const facts& known, const plan& in_force);

/// Returns the outcome of a late request: the best image so far if its route
/// allows it and there is one, otherwise ec::deadline_missed.
action walk_late(const route& along, const facts& known);

} // namespace atelier::planning
