// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/conv_layer.hpp>
#include <atelier/gpu/models/layers/group_norm_silu.hpp>
#include <atelier/gpu/models/layers/linear_layer.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <torch/torch.h>

#include <optional>
#include <string>

namespace atelier::gpu::detail {

/// Applies the non-linearity; `x` may be overwritten.
torch::Tensor activate(torch::Tensor x, autoencoder_activation how);

/// A group norm, optionally followed by a non-linearity.
class vae_norm {
public:
  vae_norm(weights& from, const std::string& name, int64_t channels,
           const autoencoder_config& config, autoencoder_activation activation);

  torch::Tensor normalise(const torch::Tensor& x) const;
  torch::Tensor normalise_and_activate(const torch::Tensor& x) const;

  /// Returns conv(normalise_and_activate(x)) for a 3x3 kernel.
  torch::Tensor then(const conv_layer& conv, const torch::Tensor& x) const;

  /// Adds conv(normalise_and_activate(x)) to `sum`.
  void then_add(const torch::Tensor& sum, const conv_layer& conv,
                const torch::Tensor& x) const;

  uint64_t bytes() const;

private:
  bool in_stripes(const torch::Tensor& x) const;
  folded_norm fold(const torch::Tensor& x) const;

  torch::Tensor weight_;
  torch::Tensor bias_;
  int64_t groups_;
  autoencoder_activation activation_;
};

/// Two convolutions with a residual connection.
/// Source: diffusers, models/resnet.py, ResnetBlock2D without time embedding.
class vae_resnet {
public:
  vae_resnet(weights& from, const std::string& name, int64_t in, int64_t out,
             const autoencoder_config& config);

  void prepare() const;

  /// Consumes `x`: afterwards its memory is free or holds the result.
  torch::Tensor operator()(torch::Tensor&& x) const;

  uint64_t bytes() const;

private:
  vae_norm norm1_;
  conv_layer conv1_;
  vae_norm norm2_;
  conv_layer conv2_;
  std::optional<conv_layer> shortcut_;
};

/// Single-head attention of every place to every other.
/// Source: diffusers, models/attention_processor.py, AttnProcessor2_0.
class vae_attention {
public:
  vae_attention(weights& from, const std::string& name, int64_t channels,
                const autoencoder_config& config);

  torch::Tensor operator()(const torch::Tensor& x) const;

  uint64_t bytes() const;

private:
  vae_norm norm_;
  linear_layer query_;
  linear_layer key_;
  linear_layer value_;
  linear_layer out_;
};

/// The blocks of the coarsest resolution.
/// Source: diffusers, models/unets/unet_2d_blocks.py, UNetMidBlock2D.
class vae_middle {
public:
  vae_middle(weights& from, const std::string& name,
             const autoencoder_config& config);

  void prepare() const;

  torch::Tensor operator()(torch::Tensor x) const;

  uint64_t bytes() const;

private:
  vae_resnet first_;
  std::optional<vae_attention> attention_;
  vae_resnet second_;
};

} // namespace atelier::gpu::detail
