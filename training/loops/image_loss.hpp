// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>

#include <torch/torch.h>

namespace atelier::gpu {

/// Returns the loss of images `are` against images `wanted`, both [n, 3, h, w].
/// It is the sum of the mean absolute and the mean squared difference of pixels
/// and half of the mean absolute differences of the images' gradients, without
/// which edges stay soft.
inline step_loss compare_images(const torch::Tensor& are,
                                const torch::Tensor& wanted) {
  constexpr double gradient_weight = 0.5;
  const auto wrong = are - wanted;
  const auto neighbours = [&](int64_t axis) {
    const auto n = wrong.size(axis) - 1;
    return (wrong.narrow(axis, 1, n) - wrong.narrow(axis, 0, n)).abs().mean();
  };
  const auto absolute = wrong.abs().mean();
  const auto squared = wrong.square().mean();
  const auto gradient = neighbours(2) + neighbours(3);
  return {absolute + squared + gradient_weight * gradient,
          {tell("absolute", absolute), tell("squared", squared),
           tell("neighbours", gradient)}};
}

} // namespace atelier::gpu
