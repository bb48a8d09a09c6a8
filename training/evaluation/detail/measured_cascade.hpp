// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <atelier/training/evaluation/evaluation.hpp>

#include <torch/torch.h>

#include <vector>

namespace atelier::gpu::detail {

/// Measurements of one variant's images of all captions, in that order.
struct judged_images {
  /// Shares of right objects.
  std::vector<double> objects;
  /// The judge's scores, 0..1.
  std::vector<double> confidences;
  /// [n, width]; undefined without a scorer.
  torch::Tensor features;
  /// Milliseconds that the judge takes per image.
  double judging = 0;
};

/// Returns the results of a cascade at thresholds from 0 to 1. The cascade
/// keeps the light variant's image if its confidence is at least the threshold,
/// and otherwise takes the heavy variant's image. `renders` are the features
/// from which distances are measured; they may be undefined. Errors of
/// distances are estimated from 32 resamplings of the captions by `seed`
/// (Efron, Bootstrap methods, 1979).
/// Source: DiffServe, section 3.2 and figure 1.
/// @pre both variants have the same captions, at least one
std::vector<evaluated_cascade_point> measure_cascade(
  const judged_images& light, const judged_images& heavy,
  const torch::Tensor& renders, uint64_t seed);

} // namespace atelier::gpu::detail
