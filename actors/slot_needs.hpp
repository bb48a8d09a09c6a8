// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/suspicion.hpp>
#include <atelier/ipc/slot_ref.hpp>
#include <atelier/planning/route.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace atelier::actors {

/// Returns whether a leg starts from an image that is kept in a slot of its
/// own: the request's, or that of an earlier leg.
/// @param brings_image the request does
inline bool has_source(const planning::leg& x, bool brings_image) {
  return brings_image
      || (x.from == planning::origin::stage_image && x.skip > 0);
}

/// Returns how many image slots must be free for a row on `along` to go through
/// a phase of a leg and everything after it, if it keeps all that it is
/// given: a source for each leg that starts from an image, a picture for each
/// leg, one for the encoded file. What leaves so many to what comes next
/// never blocks it; see ARCHITECTURE.md, Slots.
/// @pre `leg` is one of the route's, unless `from` is finishing
inline uint32_t image_slots_from(const planning::route& along, size_t leg,
                                 core::phase from, bool brings_image) {
  uint32_t needs = 1;
  if (from == core::phase::finishing)
    return needs;
  for (size_t i = leg; i < along.legs.size(); ++i)
    needs += has_source(along.legs[i], brings_image) ? 2u : 1u;
  if (from == core::phase::denoising
      && has_source(along.legs[leg], brings_image))
    --needs;
  return needs;
}

/// Returns how many state slots must be free for a row on `along` to be
/// prepared for a leg: one for itself, one for the device that takes it, and
/// one for each later leg, so that rows that are prepared for the first ones
/// do not keep others from their last.
/// @pre `leg` is one of the route's
inline uint32_t state_slots_from(const planning::route& along, size_t leg) {
  return static_cast<uint32_t>(along.legs.size() - leg) + 1;
}

/// Returns the slots of both, by kind.
inline std::array<uint32_t, ipc::slot_kinds> sum(
  std::array<uint32_t, ipc::slot_kinds> a,
  const std::array<uint32_t, ipc::slot_kinds>& b) {
  for (size_t kind = 0; kind < a.size(); ++kind)
    a[kind] += b[kind];
  return a;
}

} // namespace atelier::actors
