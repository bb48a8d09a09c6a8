// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/caption.hpp>
#include <atelier/training/quality/image_check.hpp>

#include <cstdint>

namespace atelier::gpu {

/// Counts statements, and how many of them are right.
struct score_count {
  uint32_t said = 0;
  uint32_t right = 0;

  score_count& operator+=(const score_count& x) {
    said += x.said;
    right += x.right;
    return *this;
  }

  /// Returns the share of right statements, or 1 without any statement.
  double share() const {
    return said == 0 ? 1 : static_cast<double>(right) / said;
  }

  friend bool operator==(const score_count&, const score_count&) = default;
};

/// Counts of the statements of a caption that are right in an image, or their
/// sums over many images.
struct caption_score {
  /// Objects of which everything said is right, including the relations whose
  /// subject they are.
  score_count objects;
  /// Objects whose shape, colour, place and relations are right, as far as the
  /// caption mentions them.
  score_count main;
  score_count shapes;
  score_count colours;
  score_count sizes;
  score_count textures;
  score_count places;
  score_count relations;
  score_count backgrounds;
  /// Images with as many objects as the caption has.
  score_count counts;
  /// Images in which everything is right, including the number of objects.
  score_count images;

  caption_score& operator+=(const caption_score& x);

  friend bool operator==(const caption_score&, const caption_score&) = default;
};

/// Compares the content of an image with its caption, using the assignment of
/// objects that makes most of them right.
/// Threads: any.
caption_score score_image(const seen_image& shown, const description& said);

} // namespace atelier::gpu
