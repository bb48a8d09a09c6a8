// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/conv_layer.hpp>
#include <atelier/gpu/models/layers/group_norm_silu.hpp>

#include <torch/torch.h>

#include <cstdint>

namespace atelier::gpu::detail {

/// Returns how many lines of an image to process at a time, for lines of this
/// many bytes. The intermediate results then stay in a processor's cache, and
/// take little memory compared with whole images.
int64_t stripe_lines(int64_t bytes_of_line);

/// Returns whether the two functions below can process `x`: a single image on
/// the CPU, channels-last.
bool can_stripe(const torch::Tensor& x);

/// Returns conv(silu(normalised x)) for a 3x3 kernel with a border of one. The
/// normalised image is computed in stripes, never as a whole.
/// @pre can_stripe(x)
torch::Tensor conv_of_normed(const torch::Tensor& x, const folded_norm& norm,
                             const conv_layer& conv);

/// Adds conv(silu(normalised x)) to `sum`, also in stripes.
/// @pre can_stripe(x) and can_stripe(sum)
void add_conv_of_normed(const torch::Tensor& sum, const torch::Tensor& x,
                        const folded_norm& norm, const conv_layer& conv);

} // namespace atelier::gpu::detail
