// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/core/result.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

namespace atelier::gpu {

/// Turns images into vectors: the smaller the angle between the vector of an
/// image and that of a prompt by the same folder's text_embedder, the better
/// the prompt describes the image.
/// Threads: one at a time.
class image_embedder {
public:
  virtual ~image_embedder() = default;

  /// Returns the number of elements of a vector, which is that of the text
  /// embedder.
  virtual size_t dimensions() const = 0;

  /// Returns an image's unit vector.
  /// @param from three channels, of any size
  /// Errors: ec::invalid_argument (the bytes do not fit the extent, or the
  ///         proportions are too extreme), ec::out_of_resources, ec::internal.
  virtual core::result<std::vector<float>> embed(
    const image::pixel_view& from) const = 0;
};

/// Opens the image tower of a CLIP model's folder as written by transformers'
/// CLIPModel and CLIPImageProcessor, such as that of the shipped scorer:
/// config.json with vision_config, preprocessor_config.json and
/// model.safetensors. It runs on the CPU in float32. Available only in builds
/// with models.
/// Errors: ec::not_found, ec::io_failed, ec::bad_config (among them a folder
///         without an image tower), ec::bad_payload; the text names the file,
///         and the key or tensor.
/// Threads: any.
/// Source: CLIP (arXiv:2103.00020), section 2.3: its image tower and
///         projection.
core::result<std::shared_ptr<const image_embedder>> load_image_embedder(
  const std::filesystem::path& folder);

} // namespace atelier::gpu
