// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/embedding/text_embedder.hpp>

#include <filesystem>
#include <memory>

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

} // namespace atelier::gpu::detail
