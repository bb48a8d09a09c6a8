// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/judge/prompt_classifier_config.hpp>
#include <atelier/gpu/models/judge/text_encoder_net.hpp>

#include <torch/torch.h>

#include <memory>
#include <optional>

namespace atelier::gpu {

/// Predicts from a prompt the quality on each route: a CLIP text encoder, and a
/// matrix on its pooled state. It returns one number per route instead of a
/// class, because a class can be learned only from prompts that were drawn on
/// all routes.
/// Threads: one at a time.
class prompt_classifier_net : public torch::nn::Module {
public:
  /// Draws the initial weights from `from`; without it, torch::manual_seed
  /// determines them. They are created on the CPU in float32; `to` moves them.
  explicit prompt_classifier_net(
    const prompt_classifier_config& config,
    std::optional<at::Generator> from = std::nullopt);

  /// Returns [n, levels]: logits of the expected quality, 0..1.
  /// `ids`: [n, tokens], int64.
  torch::Tensor forward(const torch::Tensor& ids);

  text_encoder_net& text() {
    return *text_;
  }

private:
  std::shared_ptr<text_encoder_net> text_;
  std::shared_ptr<detail::linear_net> classifier_;
};

} // namespace atelier::gpu
