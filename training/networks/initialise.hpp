// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <torch/torch.h>

#include <cstdint>

namespace atelier::gpu {

/// Draws a network's parameters from a seed, in the order of named_parameters.
/// Weights are uniform within 1 / sqrt(inputs), as PyTorch's convolutions and
/// linear layers are; weights of one axis are 1, and biases 0.
void draw_parameters(torch::nn::Module& network, uint64_t seed);

} // namespace atelier::gpu
