// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/training/caption.hpp>
#include <atelier/gpu/training/draw_scene.hpp>
#include <atelier/gpu/training/loops/latent_store.hpp>
#include <atelier/gpu/training/loops/level_ladder.hpp>
#include <atelier/gpu/training/loops/trained_variant.hpp>
#include <atelier/gpu/training/train.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace atelier::gpu {

/// Qualities of the pictures of numbered prompts at each level, kept in a
/// file: to draw a prompt at all levels takes seconds on a CPU.
/// Threads: one may keep while others read.
class level_store {
public:
  /// Prompts of one group are drawn together.
  static constexpr uint32_t group = 8;

  /// `split` says which scenes the prompts are of.
  /// Throws model_error: no denoiser, no autoencoder, a file.
  level_store(const training_config& config, scene_split split,
              torch::Device where);

  /// Draws the prompts of a group at all levels, unless that was done.
  void keep(uint64_t group_number);

  caption prompt(uint64_t number) const;

  /// Returns [n, levels], float32: 0..1, or NaN where no denoiser is trained.
  /// @pre the prompts' groups are kept
  torch::Tensor read(const std::vector<uint64_t>& numbers) const;

private:
  latent_store open_store() const;
  torch::Tensor measure(const std::vector<caption>& prompts,
                        const std::vector<uint64_t>& numbers) const;

  training_config config_;
  scene_split split_;
  torch::Device where_;
  /// By level; null where it is not trained.
  std::vector<std::shared_ptr<trained_variant>> variants_;
  std::shared_ptr<autoencoder_net> autoencoder_;
  latent_store store_;
};

} // namespace atelier::gpu
