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

/// Tells whether a picture is a good one of its caption: the scorer's towers
/// ("towers."), and two layers that weigh what they find.
/// Source: the task is DiffServe's (section 3.2), whose network goes on from
///         one that was trained on other pictures, and sees no caption.
/// Threads: one at a time.
class discriminator_net : public torch::nn::Module {
public:
  /// Draws the first weights from `from`; without it torch::manual_seed governs
  /// them. On the CPU in float32: `to` moves them.
  explicit discriminator_net(const discriminator_config& config,
                             std::optional<at::Generator> from = std::nullopt);

  /// What the towers find: [n, evidence_size()]. The product of both vectors,
  /// by element and in all, the picture's features and the caption's vector.
  /// `pixels`: [n, 3, side, side] in -1..1; `ids`: [n, tokens], int64.
  torch::Tensor evidence(const torch::Tensor& pixels, const torch::Tensor& ids);

  int64_t evidence_size() const;

  /// Returns [n]: the logit that the picture is good.
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
