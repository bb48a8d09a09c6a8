// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atelier::planning {

/// The measurements behind the threshold of one skip.
struct skip_evidence {
  uint32_t skip = 0;
  /// The number of images that skipped these steps.
  uint32_t images = 0;
  /// Their mean quality, as a fraction of that of full runs.
  double kept = 1;
  /// The lowest similarity of an image that kept the wanted quality.
  /// Source: Nirvana, Algorithm 2, in which a single image decides.
  std::optional<double> lowest_kept{};

  friend bool operator==(const skip_evidence&, const skip_evidence&) = default;
};

/// The measurements behind `reuse_profile::answers_from`: stored images as the
/// images of other prompts.
struct answer_evidence {
  /// The number of images.
  uint32_t images = 0;
  /// Their mean quality, as a fraction of that of full runs.
  double kept = 1;

  friend bool operator==(const answer_evidence&,
                         const answer_evidence&) = default;
};

/// The measurements behind the thresholds of `reuse_profile::latents`.
struct reuse_evidence {
  /// The encoder whose similarities the thresholds are. Two encoders are the
  /// same if their revisions are equal; the name is for people.
  std::string encoder;
  std::string encoder_revision;
  /// The name of the measure of quality.
  std::string scorer;
  /// The fraction of the quality of full runs that skips must keep (kept_of).
  double alpha = 0;
  /// The number of prompts that were drawn in full and left states, and of
  /// those that started from the states of the nearest one.
  uint32_t stored = 0;
  uint32_t resumed = 0;
  /// By rising skip; a skip without a threshold kept too little.
  std::vector<skip_evidence> skips;
  /// None if no image was compared with prompts.
  std::optional<answer_evidence> answers{};

  friend bool operator==(const reuse_evidence&,
                         const reuse_evidence&) = default;
};

} // namespace atelier::planning
