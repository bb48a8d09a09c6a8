// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/detail/conv_layer.hpp>
#include <atelier/gpu/models/layers/detail/group_norm_silu.hpp>

#include <torch/torch.h>

#include <cstdint>

namespace atelier::gpu::detail {

/// Returns how many lines of a picture to work on at a time, for lines of this
/// many bytes: what is made of them stays in a processor's cache, and takes
/// little memory beside whole pictures.
int64_t stripe_lines(int64_t bytes_of_line);

/// Whether the two functions below can take `x`: a single picture on the CPU,
/// channels-last.
bool can_stripe(const torch::Tensor& x);

/// Returns conv(silu(normalised x)) for a kernel of three with a border of one.
/// The normalised picture is made in stripes, never as a whole.
/// @pre can_stripe(x)
torch::Tensor conv_of_normed(const torch::Tensor& x, const folded_norm& norm,
                             const conv_layer& conv);

/// Adds conv(silu(normalised x)) to `sum`, likewise.
/// @pre can_stripe(x) and can_stripe(sum)
void add_conv_of_normed(const torch::Tensor& sum, const torch::Tensor& x,
                        const folded_norm& norm, const conv_layer& conv);

} // namespace atelier::gpu::detail
