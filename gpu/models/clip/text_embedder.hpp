// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Turns prompts into vectors: the smaller the angle between two vectors, the
/// more similar their prompts.
/// Source: CLIP (arXiv:2103.00020), section 2.3: its text tower and projection.
/// Threads: one at a time.
class text_embedder {
public:
  virtual ~text_embedder() = default;

  /// Returns the number of elements of a vector.
  virtual size_t dimensions() const = 0;

  /// Returns a prompt's unit vector. A prompt that is too long is truncated as
  /// by the model's own text encoder.
  /// Errors: ec::out_of_resources, ec::internal.
  virtual core::result<std::vector<float>> embed(
    std::string_view prompt) const = 0;
};

/// Opens the text tower of a CLIP model's folder as written by transformers'
/// CLIPModel or CLIPTextModelWithProjection: config.json, model.safetensors and
/// a tokenizer. It runs on the CPU in float32. Available only in builds with
/// models.
/// Errors: ec::not_found, ec::io_failed, ec::bad_config, ec::bad_payload; the
///         text names the file, and the key or tensor.
/// Threads: any.
core::result<std::shared_ptr<const text_embedder>> load_text_embedder(
  const std::filesystem::path& folder);

} // namespace atelier::gpu
