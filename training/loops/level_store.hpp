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

/// The networks that draw the ladder's levels. Stores on different threads may
/// share them, because drawing does not change them.
struct ladder_networks {
  /// One for each level; null if it is not trained.
  std::vector<std::shared_ptr<trained_variant>> variants;
  std::shared_ptr<autoencoder_net> autoencoder;
  /// Name of each level and hash of its weights.
  std::string identity;
};

/// Loads each trained variant once.
/// Throws model_error: ec::not_found (no denoiser or no autoencoder), or the
/// error of a file.
std::shared_ptr<const ladder_networks> load_ladder(
  const training_config& config, torch::Device where);

/// Keeps the qualities of numbered prompts' images at each level in a file,
/// because drawing a prompt at all levels takes seconds on a CPU.
/// Threads: one may call `keep` while others call the other functions.
class level_store {
public:
  /// Number of prompts that are drawn together.
  static constexpr uint32_t group = 8;

  /// Takes the prompts from scenes of `split`.
  /// Throws model_error: the error of a file.
  /// @pre `networks` were loaded with that `config`, on `where`
  level_store(const training_config& config, scene_split split,
              torch::Device where,
              std::shared_ptr<const ladder_networks> networks);

  /// Draws the prompts of a group at all levels, unless the file has them.
  void keep(uint64_t group_number);

  caption prompt(uint64_t number) const;

  /// Returns [n, levels], float32: 0..1, or NaN if the level's denoiser is not
  /// trained.
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
