// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/evaluation/evaluation.hpp>

#include <torch/torch.h>

#include <vector>

namespace atelier::gpu::detail {

/// What was found in one variant's pictures of all captions, in their order.
struct judged_pictures {
  /// Shares of objects that are right.
  std::vector<double> objects;
  /// What the judge says, 0..1.
  std::vector<double> confidences;
  /// [n, width]; undefined without a scorer.
  torch::Tensor features;
  /// Milliseconds of the judge for a picture.
  double judging = 0;
};

/// Returns what a cascade gives at thresholds from 0 to 1: the light variant's
/// picture where its confidence is at least the threshold, else the heavy
/// one's. `renders`: features that distances are measured from; may be
/// undefined. Errors of distances are those of 32 resamplings of the captions,
/// by `seed` (Efron, Bootstrap methods, 1979). Source: DiffServe, section 3.2
/// and figure 1.
/// @pre both have the same captions, at least one
std::vector<evaluated_cascade_point> measure_cascade(
  const judged_pictures& light, const judged_pictures& heavy,
  const torch::Tensor& renders, uint64_t seed);

} // namespace atelier::gpu::detail
