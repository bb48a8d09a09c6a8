// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/training/family.hpp>
#include <atelier/gpu/training/networks/detail/layers.hpp>
#include <atelier/gpu/training/networks/text_encoder_net.hpp>

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <vector>

namespace atelier::gpu {

/// Tells whether a picture is a good one of its caption: convolutions, each
/// level at half the size, whose last maps know where they lie and are scaled
/// and shifted by what the caption says.
/// Source: the task is DiffServe's (section 3.2), whose network sees no
///         caption; scaling by a text is FiLM (arXiv:1709.07871).
/// Threads: one at a time.
class discriminator_net : public torch::nn::Module {
public:
  /// Draws the first weights from `from`; without it torch::manual_seed governs
  /// them. On the CPU in float32: `to` moves them.
  explicit discriminator_net(const discriminator_config& config,
                             std::optional<at::Generator> from = std::nullopt);

  /// `pixels`: [n, 3, side, side] in -1..1; `ids`: [n, tokens], int64. Returns
  /// [n]: the logit that the picture is good.
  torch::Tensor forward(const torch::Tensor& pixels, const torch::Tensor& ids);

  text_encoder_net& text() {
    return *text_;
  }

private:
  /// One resolution.
  struct level {
    std::shared_ptr<detail::conv_net> smaller;
    std::shared_ptr<detail::group_norm_net> norm1;
    std::shared_ptr<detail::conv_net> conv;
    std::shared_ptr<detail::group_norm_net> norm2;
  };

  /// Reads the last maps with the caption.
  struct reading {
    std::shared_ptr<detail::group_norm_net> norm;
    std::shared_ptr<detail::linear_net> by_text;
    std::shared_ptr<detail::conv_net> conv;
  };

  std::shared_ptr<text_encoder_net> text_;
  std::vector<level> levels_;
  torch::Tensor places_;
  std::vector<reading> readings_;
  std::shared_ptr<detail::linear_net> out_;
};

} // namespace atelier::gpu
