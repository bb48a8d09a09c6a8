// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/caption.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/loops/latent_store.hpp>
#include <atelier/training/loops/level_ladder.hpp>
#include <atelier/training/loops/trained_variant.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace atelier::gpu {

/// What draws the ladder's levels; stores may share it, each on a thread of its
/// own, as drawing changes nothing in it.
struct ladder_networks {
  /// By level; null where it is not trained.
  std::vector<std::shared_ptr<trained_variant>> variants;
  std::shared_ptr<autoencoder_net> autoencoder;
  /// Each level with the hash of its weights.
  std::string identity;
};

/// Loads each trained variant once.
/// Throws model_error: no denoiser, no autoencoder, a file.
std::shared_ptr<const ladder_networks> load_ladder(
  const training_config& config, torch::Device where);

/// Qualities of the pictures of numbered prompts at each level, kept in a
/// file: to draw a prompt at all levels takes seconds on a CPU.
/// Threads: one may keep while others read.
class level_store {
public:
  /// Prompts of one group are drawn together.
  static constexpr uint32_t group = 8;

  /// `split` says which scenes the prompts are of.
  /// Throws model_error: a file.
  /// @pre `networks` were loaded with that `config`, on `where`
  level_store(const training_config& config, scene_split split,
              torch::Device where,
              std::shared_ptr<const ladder_networks> networks);

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
  std::shared_ptr<const ladder_networks> networks_;
  latent_store store_;
};

} // namespace atelier::gpu
