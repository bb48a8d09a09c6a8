// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/reuse/reuse_evidence.hpp>
#include <atelier/planning/reuse/thresholds.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning {

/// The images that skipped the same steps.
struct skip_samples {
  uint32_t skip = 0;
  std::vector<reuse_sample> samples;
};

/// The thresholds that samples support, and what they say of each skip.
struct measured_skips {
  skip_table latents;
  std::vector<skip_evidence> evidence;

  friend bool operator==(const measured_skips&,
                         const measured_skips&) = default;
};

/// The qualities of images by one measure.
struct quality_levels {
  /// The mean of full runs.
  double full = 0;
  /// The mean that images of other prompts have: what an image has by chance.
  double chance = 0;
};

/// Returns what an image of a prompt keeps of the prompt's full run: 1 with the
/// full run's quality, and on average 0 with that of another prompt's image. A
/// difference counts the same for each prompt, so that a prompt whose images
/// are all poor counts no more than others.
/// @pre the mean of full runs is above that by chance
double kept_of(double image, double full_run, const quality_levels& means);

/// Returns for each skip the least similarity from which on images keep the
/// fraction `alpha` of the quality with 95 % certainty (reliable_from). A
/// larger skip never has a lower threshold; a skip that keeps too little has
/// none. As policies require a similarity above the threshold, thresholds lie
/// by a millionth below the least similarity.
measured_skips thresholds_of(std::span<const skip_samples> all, double alpha);

} // namespace atelier::planning
