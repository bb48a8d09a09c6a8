// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/clip/clip_vision_config.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/layers/placement.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// The image tower of transformers' CLIPModel, with its projection.
/// Threads: one at a time; records no autograd state.
/// Source: transformers, models/clip/modeling_clip.py, CLIPVisionModel.
class clip_vision {
public:
  /// Errors: as unet::load.
  static core::result<std::unique_ptr<clip_vision>> load(
    const component& from, const placement& where);

  ~clip_vision();
  clip_vision(const clip_vision&) = delete;
  clip_vision& operator=(const clip_vision&) = delete;

  /// Maps images, [n, 3, image_size, image_size], to [n, projection_dim], which
  /// is not of unit length.
  /// Throws c10::Error.
  torch::Tensor forward(const torch::Tensor& pixels) const;

  const clip_vision_config& config() const;

private:
  struct impl;
  explicit clip_vision(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::gpu
