// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <atelier/gpu/models/judge/layers.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace atelier::gpu::detail {

/// Adds two convolutions to the input, each after a norm, with the timestep's
/// embedding between them.
/// Source: diffusers, models/resnet.py, ResnetBlock2D.
class resnet_net : public torch::nn::Module {
public:
  resnet_net(int64_t in, int64_t out, const unet_config& config,
             const first_weights& from);

  /// `time` is the timestep's embedding after its last non-linearity.
  torch::Tensor operator()(const torch::Tensor& x,
                           const torch::Tensor& time) const;

private:
  bool scale_shift_;
  std::shared_ptr<group_norm_net> norm1_;
  std::shared_ptr<conv_net> conv1_;
  std::shared_ptr<linear_net> time_;
  std::shared_ptr<group_norm_net> norm2_;
  std::shared_ptr<conv_net> conv2_;
  std::shared_ptr<conv_net> shortcut_;
};

/// Self-attention, attention to the context, and a gated feed-forward layer.
/// Source: diffusers, models/attention.py, BasicTransformerBlock.
class transformer_block_net : public torch::nn::Module {
public:
  transformer_block_net(int64_t width, int64_t heads, int64_t context_width,
                        const first_weights& from);

  /// Shape: [n, tokens, width] -> the same.
  torch::Tensor operator()(const torch::Tensor& x,
                           const torch::Tensor& context) const;

private:
  struct attention {
    std::shared_ptr<linear_net> q;
    std::shared_ptr<linear_net> k;
    std::shared_ptr<linear_net> v;
    std::shared_ptr<linear_net> out;
  };

  attention add_attention(const std::string& name, int64_t width, int64_t seen,
                          const first_weights& from);

  int64_t heads_;
  std::shared_ptr<layer_norm_net> norm1_;
  std::shared_ptr<layer_norm_net> norm2_;
  std::shared_ptr<layer_norm_net> norm3_;
  attention self_;
  attention cross_;
  std::shared_ptr<linear_net> gated_;
  std::shared_ptr<linear_net> out_;
};

/// Transformer blocks over the pixels of a feature map.
/// Source: diffusers, models/transformers/transformer_2d.py.
class transformer_net : public torch::nn::Module {
public:
  transformer_net(const unet_config& config, int64_t width, int64_t heads,
                  int64_t blocks, const first_weights& from);

  /// Shape: [n, width, h, w] -> the same.
  torch::Tensor operator()(const torch::Tensor& x,
                           const torch::Tensor& context) const;

private:
  std::shared_ptr<group_norm_net> norm_;
  /// The projections are either the two matrices or the two convolutions.
  std::shared_ptr<linear_net> in_;
  std::shared_ptr<linear_net> out_;
  std::shared_ptr<conv_net> conv_in_;
  std::shared_ptr<conv_net> conv_out_;
  std::vector<std::shared_ptr<transformer_block_net>> blocks_;
};

/// Pools the context by attention: [n, tokens, in] -> [n, out].
/// Source: diffusers, models/embeddings.py, TextTimeEmbedding.
class pooling_net : public torch::nn::Module {
public:
  pooling_net(int64_t in, int64_t out, int64_t heads,
              const first_weights& from);

  torch::Tensor operator()(const torch::Tensor& context) const;

private:
  /// Holds the row that diffusers registers beside its projections.
  class position_net : public torch::nn::Module {
  public:
    explicit position_net(const torch::Tensor& x)
      : row(register_parameter("positional_embedding", x)) {}

    torch::Tensor row;
  };

  int64_t heads_;
  std::shared_ptr<layer_norm_net> norm1_;
  std::shared_ptr<position_net> pool_;
  std::shared_ptr<linear_net> k_;
  std::shared_ptr<linear_net> q_;
  std::shared_ptr<linear_net> v_;
  std::shared_ptr<linear_net> proj_;
  std::shared_ptr<layer_norm_net> norm2_;
};

/// Returns the sines and cosines of timesteps: [n] -> [n, width], float32.
/// Source: diffusers, models/embeddings.py, get_timestep_embedding.
torch::Tensor embed_timesteps(const torch::Tensor& x, int64_t width,
                              bool cosines_first, double freq_shift);

} // namespace atelier::gpu::detail
