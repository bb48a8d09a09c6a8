// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/samplers/step.hpp>

namespace atelier::gpu {

/// Does the same as `step` with LibTorch's own operations and with the same
/// bits, on any device: for devices without a pass of their own.
stepped_batch step_by_ops(const torch::Tensor& x, const torch::Tensor& out,
                          const torch::Tensor& last, const torch::Tensor& noise,
                          std::span<const step_rule> rules, step_numbers& kept);

/// Does the same as `guide`; deviations differ in their last bits.
torch::Tensor guide_by_ops(const torch::Tensor& unguided,
                           const torch::Tensor& guided,
                           std::span<const float> scales,
                           std::span<const float> rescales, step_numbers& kept);

/// Returns one value for each row as a column that multiplies `like`, on its
/// device.
torch::Tensor column(std::span<const float> values, const torch::Tensor& like,
                     step_numbers& kept);

} // namespace atelier::gpu
