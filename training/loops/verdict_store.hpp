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

/// A light variant with its number of steps and its guidance.
struct light_drawing {
  training_part variant = training_part::turbo;
  uint32_t steps = 4;
  float guidance = 1;
};

/// Returns the lightest trained denoiser: turbo, otherwise tiny, small or base
/// with few steps.
/// Throws model_error (ec::not_found) if no denoiser is trained.
light_drawing lightest_trained(const training_config& config);

/// The networks that draw images and judge them. Stores on different threads
/// may share them, because stores use only parts that do not change.
struct verdict_networks {
  light_drawing drawing;
  std::unique_ptr<trained_variant> variant;
  std::shared_ptr<autoencoder_net> autoencoder;
  /// Has the towers of the trained scorer.
  std::shared_ptr<discriminator_net> judge;
  /// The variant with its steps and guidance, and the hashes of the variant's
  /// and the scorer's weights.
  std::string identity;
};

/// Throws model_error: ec::not_found (no denoiser, autoencoder or scorer), or
/// the error of a file.
std::shared_ptr<const verdict_networks> load_verdict_networks(
  const training_config& config, torch::Device where);

/// Evidence and quality of n images.
struct verdicts {
  /// [n, discriminator_net::evidence_size()].
  torch::Tensor evidence;
  /// [n]: the share of objects that the image check finds right, 0..1.
  torch::Tensor quality;
};

/// Keeps the evidence and quality of numbered captions' images in a file,
/// because drawing and judging an image costs a thousand times as much as
/// learning from it. Two groups of three have drawings of a light variant. The
/// third has renders, half of them with a caption that is wrong in a word.
/// Threads: one may call `keep` while others call `read`.
class verdict_store {
public:
  /// Number of images that are drawn together.
  static constexpr uint32_t group = 8;

  /// Returns whether the images of a group are drawings.
  static constexpr bool is_drawn(uint64_t group_number) {
    return group_number % 3 != 2;
  }

  /// Takes the captions from scenes of `split`.
  /// Throws model_error: the error of a file.
  /// @pre `networks` were loaded with that `config`, on `where`
  verdict_store(const training_config& config, scene_split split,
                torch::Device where,
                std::shared_ptr<const verdict_networks> networks);

  /// Draws and judges those of the groups 0..count - 1 that the file lacks.
  void keep(uint64_t count);

  /// @pre the numbers' groups are kept
  verdicts read(const std::vector<uint64_t>& numbers) const;

private:
  struct image_plan {
    scene content;
    caption said;
  };

  latent_store open_store() const;
  image_plan plan(uint64_t number, bool drawn) const;
  void make(uint64_t group_number);

  training_config config_;
  scene_split split_;
  torch::Device where_;
  std::shared_ptr<const verdict_networks> networks_;
  latent_store store_;
  uint64_t kept_ = 0;
};

} // namespace atelier::gpu
