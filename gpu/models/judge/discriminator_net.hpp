// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/judge/judge_config.hpp>
#include <atelier/gpu/models/judge/layers.hpp>
#include <atelier/gpu/models/judge/scorer_net.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace atelier::gpu {

/// Judges whether an image is a good one for its caption, by the scorer's
/// towers ("towers.") and two layers that weigh their evidence.
/// Source: the task is DiffServe's (section 3.2), whose network continues from
///         one that was trained on other images, and sees no caption.
/// Threads: one at a time.
class discriminator_net : public torch::nn::Module {
public:
  /// Draws the initial weights from `from`; without it, torch::manual_seed
  /// determines them. They are created on the CPU in float32; `to` moves them.
  explicit discriminator_net(const discriminator_config& config,
                             std::optional<at::Generator> from = std::nullopt);

  /// Returns the evidence of the towers, [n, evidence_size()]: the product of
  /// both vectors, by element and in total, the image's features and the
  /// caption's vector.
  /// `pixels`: [n, 3, side, side] in -1..1; `ids`: [n, tokens], int64.
  torch::Tensor evidence(const torch::Tensor& pixels, const torch::Tensor& ids);

  int64_t evidence_size() const;

  /// Returns [n]: the logit that the image is good.
  torch::Tensor judge(const torch::Tensor& evidence) const;

  torch::Tensor forward(const torch::Tensor& pixels, const torch::Tensor& ids) {
    return judge(evidence(pixels, ids));
  }

  scorer_net& towers() {
    return *towers_;
  }

private:
  discriminator_config config_;
  std::shared_ptr<scorer_net> towers_;
  std::shared_ptr<detail::linear_net> inner_;
  std::shared_ptr<detail::linear_net> out_;
};

} // namespace atelier::gpu
