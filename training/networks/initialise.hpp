// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <torch/torch.h>

#include <cstdint>

namespace atelier::gpu {

/// Draws a network's parameters from a seed, in the order of their names:
/// weights evenly within 1 / sqrt(inputs), as PyTorch does for convolutions and
/// linear layers; weights of one axis are 1, biases 0.
void draw_parameters(torch::nn::Module& network, uint64_t seed);

} // namespace atelier::gpu
