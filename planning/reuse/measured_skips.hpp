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

/// Returns for each skip the least similarity from which on images keep the
/// fraction `alpha` of the quality with 95 % certainty (reliable_from). A
/// larger skip never has a lower threshold; a skip that keeps too little has
/// none. As policies require a similarity above the threshold, thresholds lie
/// by a millionth below the least similarity.
measured_skips thresholds_of(std::span<const skip_samples> all, double alpha);

} // namespace atelier::planning
