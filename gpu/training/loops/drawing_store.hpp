// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/training/caption.hpp>
#include <atelier/gpu/training/loops/latent_store.hpp>
#include <atelier/gpu/training/loops/trained_variant.hpp>
#include <atelier/gpu/training/scene.hpp>
#include <atelier/gpu/training/train.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace atelier::gpu {

/// How a light variant draws.
struct light_drawing {
  training_part variant = training_part::turbo;
  uint32_t steps = 4;
  float guidance = 1;
};

/// Returns how the lightest of the denoisers that are trained draws: turbo,
/// else tiny, small or base in few steps.
/// Throws model_error (ec::not_found) where none is.
light_drawing lightest_trained(const training_config& config);

/// A caption of a number, and what is drawn for it.
struct drawn_caption {
  scene what;
  caption says;
};

/// Latents that a light variant draws for numbered captions, kept in a file: a
/// drawing costs as much as many steps of what learns from it.
/// Threads: any.
class drawing_store {
public:
  /// Numbers of one group are drawn together.
  static constexpr uint32_t group = 8;

  /// Throws model_error: no denoiser, no autoencoder, a file.
  drawing_store(const training_config& config, torch::Device where);

  /// Draws the groups 0..count - 1 that are not there yet.
  void keep(uint64_t count);

  /// Returns the caption of a number, of a scene of the training split.
  drawn_caption caption_of(uint64_t number) const;

  /// Returns latents [n, 4, 16, 16] of numbers whose groups are kept.
  torch::Tensor read(const std::vector<uint64_t>& numbers) const;

  /// Draws captions that are in no group, with the noise of `number`s.
  torch::Tensor draw(const std::vector<std::string>& captions,
                     const std::vector<uint64_t>& numbers) const;

private:
  training_config config_;
  light_drawing how_;
  trained_variant variant_;
  latent_store store_;
  uint64_t kept_ = 0;
};

} // namespace atelier::gpu
