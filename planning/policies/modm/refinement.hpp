// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile.hpp>
#include <atelier/planning/reuse/thresholds.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace atelier::planning::modm {

/// The number of steps of a full run that the published skips refer to, T.
/// Source: MoDM, section 5.2.
inline constexpr uint32_t reference_steps = 50;

/// The fraction of the full quality that a refined image keeps at least, alpha.
/// Source: MoDM, section 5.2, Eq. 5.
inline constexpr double kept_quality = 0.95;

/// Returns the thresholds of text-to-image similarity of CLIP ViT-L/14.
/// Source: MoDM's artifact; 20 skipped steps are not used there.
skip_table published_table();

/// Returns the thresholds of a profile for images, or the published ones; their
/// skips refer to `known.steps`.
skip_table table_in(const reuse_profile& known);

/// The steps of a variant that refine an image.
struct refinement {
  /// The index of the first step in the variant's schedule.
  uint32_t first = 0;
  uint32_t steps = 0;
};

/// Returns the steps that a variant of `own_steps` runs if a reference run
/// skips `skip` of `of` steps: the last ones, as many as `scaled_skip` leaves,
/// which are those that a leg with this skip runs. Returns nothing if that is
/// its whole schedule: it cannot refine.
/// Source: MoDM, section 5.2; other step counts are not stated there.
std::optional<refinement> refine_with(uint32_t own_steps, uint32_t skip,
                                      uint32_t of);

} // namespace atelier::planning::modm
