// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/embedding/text_embedder.hpp>

#include <torch/torch.h>

#include <filesystem>
#include <memory>
#include <vector>

namespace atelier::gpu::detail {

/// Opens the text tower of a CLIP folder.
/// Errors and threads: as load_text_embedder.
/// Source: CLIP (arXiv:2103.00020), section 2.3: its text tower and projection.
core::result<std::shared_ptr<const text_embedder>> load_clip_embedder(
  const std::filesystem::path& folder);

/// Opens a sentence encoder.
/// Errors and threads: as load_text_embedder.
/// Source: Sentence-BERT (arXiv:1908.10084), section 3.
core::result<std::shared_ptr<const text_embedder>> load_bert_embedder(
  const std::filesystem::path& folder);

/// Returns the rows of a matrix, each divided by its length.
/// Throws c10::Error if a length is 0 or not finite.
std::vector<std::vector<float>> unit_vectors(const torch::Tensor& rows);

} // namespace atelier::gpu::detail
