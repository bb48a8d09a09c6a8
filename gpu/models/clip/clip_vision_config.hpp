// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <cstdint>

namespace atelier::gpu {

/// Shape of the image tower of a CLIP model.
struct clip_vision_config {
  int64_t hidden_size = 768;
  int64_t intermediate_size = 3072;
  int64_t layers = 12;
  int64_t heads = 12;
  /// Pixels of the images' side, and of the square patches that become tokens.
  int64_t image_size = 224;
  int64_t patch_size = 32;
  clip_activation activation = clip_activation::quick_gelu;
  double layer_norm_eps = 1e-5;
  /// Elements of an image's vector, as of a text's.
  int64_t projection_dim = 512;

  /// Returns the number of patches of an image.
  int64_t patches() const {
    return (image_size / patch_size) * (image_size / patch_size);
  }
};

/// Reads the configuration of the image tower of a whole CLIP model (CLIPModel)
/// as transformers 4 and 5 write it. Missing keys have the defaults of
/// transformers 5. Keys that do not affect inference are ignored.
/// Errors: ec::bad_config; the text names the file, the key and its value.
/// Threads: any.
/// Source: transformers, models/clip/configuration_clip.py.
core::result<clip_vision_config> read_clip_vision_config(const component& from);

} // namespace atelier::gpu
