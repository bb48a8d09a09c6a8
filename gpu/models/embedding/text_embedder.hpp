// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Turns prompts into vectors: the smaller the angle between two vectors, the
/// more similar their prompts.
/// Threads: one at a time.
class text_embedder {
public:
  virtual ~text_embedder() = default;

  /// Returns the number of elements of a vector.
  virtual size_t dimensions() const = 0;

  /// Returns the unit vectors of prompts, which run through the network
  /// together. A prompt that is too long is truncated as by the model's own
  /// tokenizer.
  /// Errors: ec::out_of_resources, ec::internal.
  /// @pre `prompts` is not empty
  virtual core::result<std::vector<std::vector<float>>> embed_all(
    std::span<const std::string_view> prompts) const = 0;

  /// Returns one prompt's unit vector.
  /// Errors: as embed_all.
  core::result<std::vector<float>> embed(std::string_view prompt) const;
};

/// Opens a text encoder's folder: the text tower of a CLIP model as written by
/// transformers' CLIPModel or CLIPTextModelWithProjection, or a sentence
/// encoder (see open_sentence_folder). Each has config.json, model.safetensors
/// and a tokenizer. It runs on the CPU in float32. Available only in builds
/// with models.
/// Errors: ec::not_found, ec::io_failed, ec::bad_config, ec::bad_payload; the
///         text names the file, and the key or tensor.
/// Threads: any.
core::result<std::shared_ptr<const text_embedder>> load_text_embedder(
  const std::filesystem::path& folder);

} // namespace atelier::gpu
