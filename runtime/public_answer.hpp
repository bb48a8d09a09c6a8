// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/ports.hpp>
#include <atelier/atelier.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/profile.hpp>

namespace atelier::runtime {

/// Returns the public form of an answer, with a copy of the image in its slot.
/// An image that cannot be read becomes a failure.
/// @param known names ladders and their variants; null: no predictions of
/// classes are returned
answer to_public(actors::answer x, const ipc::slot_store& slots,
                 const planning::profile* known);

} // namespace atelier::runtime
