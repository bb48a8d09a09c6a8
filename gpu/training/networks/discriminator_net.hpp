// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/training/family.hpp>
#include <atelier/gpu/training/networks/detail/layers.hpp>

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <vector>

namespace atelier::gpu {

/// Tells from a picture alone whether it is a good one: convolutions, each
/// level at half the size, and a mean over what is left.
/// Threads: one at a time.
class discriminator_net : public torch::nn::Module {
public:
  /// Draws the first weights from `from`; without it torch::manual_seed governs
  /// them. On the CPU in float32: `to` moves them.
  explicit discriminator_net(const discriminator_config& config,
                             std::optional<at::Generator> from = std::nullopt);

  /// `pixels`: [n, 3, h, w] in -1..1, sides multiples of 2 to the number of
  /// levels. Returns [n]: the logit that the picture is good.
  torch::Tensor forward(const torch::Tensor& pixels);

private:
  /// One resolution.
  struct level {
    std::shared_ptr<detail::conv_net> smaller;
    std::shared_ptr<detail::group_norm_net> norm1;
    std::shared_ptr<detail::conv_net> conv;
    std::shared_ptr<detail::group_norm_net> norm2;
  };

  std::vector<level> levels_;
  std::shared_ptr<detail::linear_net> out_;
};

} // namespace atelier::gpu
