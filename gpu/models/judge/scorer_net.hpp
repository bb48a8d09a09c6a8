// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/judge/judge_config.hpp>
#include <atelier/gpu/models/judge/text_encoder_net.hpp>

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <vector>

namespace atelier::gpu {

/// The image tower's output for n images.
struct image_states {
  /// [n, width of the tower]: the whole image, after the last norm.
  torch::Tensor pooled;
  /// [n, patches, width of the tower]: each patch, before the last layer.
  torch::Tensor patches;
};

/// CLIP's two towers, trainable, which score how well a text fits an image.
/// named_parameters() returns the names of transformers' CLIPModel, and the
/// initial weights have the same distributions.
/// Threads: one at a time.
/// Source: transformers, models/clip/modeling_clip.py, CLIPModel.
class scorer_net : public torch::nn::Module {
public:
  /// Draws the initial weights from `from`; without it, torch::manual_seed
  /// determines them. They are created on the CPU in float32; `to` moves them.
  explicit scorer_net(const scorer_config& config,
                      std::optional<at::Generator> from = std::nullopt);

  /// Runs the image tower. `pixels`: [n, 3, side, side] in -1..1.
  image_states look(const torch::Tensor& pixels);

  /// Returns the pooled output of `look`, for distances between sets of images.
  torch::Tensor features(const torch::Tensor& pixels) {
    return look(pixels).pooled;
  }

  /// Maps the pooled output of `look` to unit vectors [n, projection].
  torch::Tensor project(const torch::Tensor& pooled);

  /// Returns unit vectors [n, projection].
  torch::Tensor embed_images(const torch::Tensor& pixels);

  /// Returns unit vectors [n, projection]. `ids`: [n, tokens], int64.
  torch::Tensor embed_texts(const torch::Tensor& ids);

  /// Returns the factor of the vectors' products, a scalar.
  torch::Tensor scale() const {
    return logit_scale_.exp();
  }

  /// Returns the loss of n images and n * k texts, a scalar; text i * k belongs
  /// to image i. Images choose among all texts, and the n matching texts among
  /// images.
  /// `also_true` [n, n * k], bool: pairs that count as neither right nor wrong;
  /// undefined: none.
  /// Source: CLIP (arXiv:2103.00020), figure 3; with further wrong texts:
  ///         NegCLIP (arXiv:2210.01936), section 4.
  torch::Tensor contrastive_loss(const torch::Tensor& images,
                                 const torch::Tensor& texts,
                                 const torch::Tensor& also_true = {}) const;

  /// Returns the text tower. It has the shape of the family's text encoder,
  /// whose training can start from it.
  text_encoder_net& text() {
    return *text_;
  }

private:
  scorer_config config_;
  std::shared_ptr<text_encoder_net> text_;
  torch::Tensor class_embedding_;
  torch::Tensor logit_scale_;
  std::shared_ptr<detail::conv_net> patches_;
  std::shared_ptr<detail::table_net> positions_;
  std::shared_ptr<detail::layer_norm_net> first_norm_;
  std::vector<std::shared_ptr<detail::clip_layer_net>> layers_;
  std::shared_ptr<detail::layer_norm_net> last_norm_;
  std::shared_ptr<detail::linear_net> projection_;
};

} // namespace atelier::gpu
