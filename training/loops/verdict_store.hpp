// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/gpu/models/judge/discriminator_net.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/loops/latent_store.hpp>
#include <atelier/training/loops/trained_variant.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
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

/// What draws the pictures that verdicts are of, and what looks at them; stores
/// may share it, each on a thread of its own, as it does not change.
struct verdict_networks {
  light_drawing how;
  std::unique_ptr<trained_variant> variant;
  std::shared_ptr<autoencoder_net> autoencoder;
  /// With the towers of the trained scorer.
  std::shared_ptr<discriminator_net> judge;
  /// The variant and the scorer with the hashes of their weights.
  std::string identity;
};

/// Throws model_error: no denoiser, no autoencoder, no scorer, a file.
std::shared_ptr<const verdict_networks> load_verdict_networks(
  const training_config& config, torch::Device where);

/// Pictures that were judged.
struct verdicts {
  /// [n, discriminator_net::evidence_size()].
  torch::Tensor evidence;
  /// [n]: the share of objects that the picture check finds right, 0..1.
  torch::Tensor quality;
};

/// Pictures of numbered captions, as the discriminator's towers see them, with
/// what the picture check finds; kept in a file, as to draw and judge one costs
/// a thousand times what it costs to learn from it. Two groups of three are
/// drawings of a light variant. The third is of renders, half of them with a
/// caption that is wrong in a word.
/// Threads: one may keep while others read.
class verdict_store {
public:
  /// Numbers of one group are drawn together.
  static constexpr uint32_t group = 8;

  /// Tells whether the pictures of a group are drawings.
  static constexpr bool is_drawn(uint64_t group_number) {
    return group_number % 3 != 2;
  }

  /// `split` says which scenes the captions are of.
  /// Throws model_error: a file.
  /// @pre `networks` were loaded with that `config`, on `where`
  verdict_store(const training_config& config, scene_split split,
                torch::Device where,
                std::shared_ptr<const verdict_networks> networks);

  /// Draws and judges the groups 0..count - 1 that are not there yet.
  void keep(uint64_t count);

  /// @pre the numbers' groups are kept
  verdicts read(const std::vector<uint64_t>& numbers) const;

private:
  struct picture_plan {
    scene what;
    caption said;
  };

  latent_store open_store() const;
  picture_plan plan(uint64_t number, bool drawn) const;
  void make(uint64_t group_number);

  training_config config_;
  scene_split split_;
  torch::Device where_;
  std::shared_ptr<const verdict_networks> networks_;
  latent_store store_;
  uint64_t kept_ = 0;
};

} // namespace atelier::gpu
