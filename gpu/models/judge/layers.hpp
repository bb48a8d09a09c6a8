// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <torch/torch.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::gpu::detail {

/// Draws a network's initial weights, on the CPU in float32.
class first_weights {
public:
  /// Without a generator, the draws follow torch::manual_seed.
  explicit first_weights(std::optional<at::Generator> from)
    : from_(std::move(from)) {}

  /// Returns uniform values in +-1 / sqrt(fan_in), as PyTorch's linear and
  /// convolution layers draw them.
  torch::Tensor even(torch::IntArrayRef shape, int64_t fan_in) const;

  torch::Tensor normal(torch::IntArrayRef shape, double deviation) const;

private:
  std::optional<at::Generator> from_;
};

/// Registers `what` in `in` under a dotted path; plain modules are created for
/// the names in between.
void place_module(torch::nn::Module& in, std::string_view path,
                  std::shared_ptr<torch::nn::Module> what);

/// Makes a module, and registers it under a dotted path.
template <class Layer, class... Args>
std::shared_ptr<Layer> make_layer(torch::nn::Module& in, std::string_view path,
                                  Args&&... args) {
  auto out = std::make_shared<Layer>(std::forward<Args>(args)...);
  place_module(in, path, out);
  return out;
}

enum class with_bias : bool { no, yes };

/// Maps [..., in] to [..., out].
class linear_net : public torch::nn::Module {
public:
  linear_net(int64_t in, int64_t out, const first_weights& from,
             with_bias biased = with_bias::yes);
  /// Uses the caller's weights; has no bias if `bias` is undefined.
  linear_net(const torch::Tensor& weight, const torch::Tensor& bias);

  torch::Tensor operator()(const torch::Tensor& x) const {
    return at::linear(x, weight, bias);
  }

  torch::Tensor weight;
  torch::Tensor bias;
};

/// Computes several linear layers of one input in one product: [..., in] ->
/// [..., sum of out]. Either all layers have biases, or none has.
torch::Tensor joined(const torch::Tensor& x,
                     std::initializer_list<const linear_net*> layers);

/// A square convolution with padding.
class conv_net : public torch::nn::Module {
public:
  conv_net(int64_t in, int64_t out, int64_t kernel, const first_weights& from,
           int64_t stride = 1, with_bias biased = with_bias::yes);
  /// Cuts images into squares as large as the kernel; has no bias.
  conv_net(const torch::Tensor& weight, int64_t stride);

  /// Maps [n, in, h, w] to [n, out, h / stride, w / stride].
  torch::Tensor operator()(const torch::Tensor& x) const {
    return at::conv2d(x, weight, bias, {stride_, stride_},
                      {padding_, padding_});
  }

  torch::Tensor weight;
  torch::Tensor bias;

private:
  int64_t stride_;
  int64_t padding_;
};

class group_norm_net : public torch::nn::Module {
public:
  group_norm_net(int64_t groups, int64_t channels, double eps);

  torch::Tensor operator()(const torch::Tensor& x) const {
    return at::group_norm(x, groups_, weight, bias, eps_);
  }

  torch::Tensor weight;
  torch::Tensor bias;

private:
  int64_t groups_;
  double eps_;
};

class layer_norm_net : public torch::nn::Module {
public:
  explicit layer_norm_net(int64_t width, double eps = 1e-5);

  torch::Tensor operator()(const torch::Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, bias, eps_);
  }

  torch::Tensor weight;
  torch::Tensor bias;

private:
  double eps_;
};

/// A table of rows, as nn.Embedding.
class table_net : public torch::nn::Module {
public:
  table_net(int64_t rows, int64_t width, double deviation,
            const first_weights& from);

  torch::Tensor weight;
};

/// Splits [n, tokens, parts * width] into `parts` tensors [n, heads, tokens,
/// width / heads].
std::vector<torch::Tensor> split_heads(const torch::Tensor& x, int64_t parts,
                                       int64_t heads);

/// Maps [n, heads, tokens, d] of each to [n, tokens, heads * d].
torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k,
                     const torch::Tensor& v, bool causal = false);

} // namespace atelier::gpu::detail
