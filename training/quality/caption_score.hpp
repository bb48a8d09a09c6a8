// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/caption.hpp>
#include <atelier/training/quality/picture_check.hpp>

#include <cstdint>

namespace atelier::gpu {

/// How many were said, and how many of them are right.
struct score_count {
  uint32_t said = 0;
  uint32_t right = 0;

  score_count& operator+=(const score_count& x) {
    said += x.said;
    right += x.right;
    return *this;
  }

  /// Return the share of those right; 1 where none was said.
  double share() const {
    return said == 0 ? 1 : static_cast<double>(right) / said;
  }

  friend bool operator==(const score_count&, const score_count&) = default;
};

/// What of a caption is right in a picture, or, summed, in many.
struct caption_score {
  /// Objects of which everything said is right, their relations too.
  score_count objects;
  /// Objects of which shape, colour, place and relations are right, as far as
  /// they are said.
  score_count main;
  score_count shapes;
  score_count colours;
  score_count sizes;
  score_count textures;
  score_count places;
  score_count relations;
  score_count backgrounds;
  /// Pictures with as many objects as the caption has.
  score_count counts;
  /// Pictures in which everything is right, the number of objects too.
  score_count pictures;

  caption_score& operator+=(const caption_score& x);

  friend bool operator==(const caption_score&, const caption_score&) = default;
};

/// Judge what a picture shows by what its caption says, with the assignment of
/// objects that makes most of them right.
/// Threads: any.
caption_score score_picture(const seen_picture& shown, const description& said);

} // namespace atelier::gpu
