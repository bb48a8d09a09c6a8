// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <string_view>

namespace atelier::gpu {

/// Returns an image as the family's judges read it: [1, 3, side, side] in
/// -1..1, scaled if it has another size.
/// @param pixels [3, height, width], 0..255
/// Throws c10::Error.
torch::Tensor judge_pixels(const torch::Tensor& pixels, torch::Device where,
                           int64_t side);

/// Returns the tokens of a prompt: [1, tokens], int64, on the CPU.
/// @param most the number of tokens, including start and end
/// Throws c10::Error.
torch::Tensor judge_tokens(const tokenizer& words, std::string_view prompt,
                           uint32_t most);

} // namespace atelier::gpu
