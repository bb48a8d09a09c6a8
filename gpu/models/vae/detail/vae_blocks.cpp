// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/stripes.hpp>
#include <atelier/gpu/models/vae/detail/vae_blocks.hpp>

namespace atelier::gpu::detail {

namespace {

constexpr double eps = 1e-6;

// Files written before diffusers 0.18 have other names for the attention's
// matrices.
linear_layer take_projection(weights& from, const std::string& name,
                             const char* today, const char* before,
                             int64_t channels) {
  const auto old = from.has(fmt::format("{}.{}.weight", name, before));
  return linear_layer::take(
    from, fmt::format("{}.{}", name, old ? before : today), channels, channels);
}

} // namespace

torch::Tensor activate(torch::Tensor x, autoencoder_activation how) {
  switch (how) {
    case autoencoder_activation::silu:
      return at::silu_(x);
    case autoencoder_activation::relu:
      return at::relu_(x);
    case autoencoder_activation::gelu:
      return at::gelu_(x);
    case autoencoder_activation::mish:
      return at::mish_(x);
  }
  return x;
}

vae_norm::vae_norm(weights& from, const std::string& name, int64_t channels,
                   const autoencoder_config& config,
                   autoencoder_activation activation)
  : weight_(from.take(name + ".weight", {channels})),
    bias_(from.take(name + ".bias", {channels})),
    groups_(config.norm_num_groups),
    activation_(activation) {}

torch::Tensor vae_norm::normalise(const torch::Tensor& x) const {
  return normalise_groups(x, groups_, weight_, bias_, eps,
                          after_scaling::nothing);
}

torch::Tensor vae_norm::normalise_and_activate(const torch::Tensor& x) const {
  if (activation_ == autoencoder_activation::silu)
    return normalise_groups(x, groups_, weight_, bias_, eps,
                            after_scaling::silu);
  return activate(normalise(x), activation_);
}

bool vae_norm::in_stripes(const torch::Tensor& x) const {
  return activation_ == autoencoder_activation::silu && can_stripe(x);
}

folded_norm vae_norm::fold(const torch::Tensor& x) const {
  return fold_group_norm(x, groups_, weight_, bias_, eps);
}

torch::Tensor vae_norm::then(const conv_layer& conv,
                             const torch::Tensor& x) const {
  if (in_stripes(x))
    return conv_of_normed(x, fold(x), conv);
  return conv(normalise_and_activate(x), {1, 1});
}

void vae_norm::then_add(const torch::Tensor& sum, const conv_layer& conv,
                        const torch::Tensor& x) const {
  if (in_stripes(x))
    add_conv_of_normed(sum, x, fold(x), conv);
  else
    conv.add_to(sum, normalise_and_activate(x), {1, 1});
}

uint64_t vae_norm::bytes() const {
  return weight_.nbytes() + bias_.nbytes();
}

vae_resnet::vae_resnet(weights& from, const std::string& name, int64_t in,
                       int64_t out, const autoencoder_config& config)
  : norm1_(from, name + ".norm1", in, config, config.activation),
    conv1_(conv_layer::take(from, name + ".conv1", out, in, 3)),
    norm2_(from, name + ".norm2", out, config, config.activation),
    conv2_(conv_layer::take(from, name + ".conv2", out, out, 3)) {
  if (in != out)
    shortcut_ = conv_layer::take(from, name + ".conv_shortcut", out, in, 1);
}

void vae_resnet::prepare() const {
  conv1_.prepare();
  conv2_.prepare();
  if (shortcut_)
    shortcut_->prepare();
}

torch::Tensor vae_resnet::operator()(torch::Tensor&& x) const {
  const auto inner = norm1_.then(conv1_, x);
  auto out = shortcut_ ? (*shortcut_)(x, {0, 0}) : std::move(x);
  x = torch::Tensor{};
  norm2_.then_add(out, conv2_, inner);
  return out;
}

uint64_t vae_resnet::bytes() const {
  return norm1_.bytes() + conv1_.bytes() + norm2_.bytes() + conv2_.bytes()
       + (shortcut_ ? shortcut_->bytes() : 0);
}

vae_attention::vae_attention(weights& from, const std::string& name,
                             int64_t channels, const autoencoder_config& config)
  : norm_(from, name + ".group_norm", channels, config, config.activation),
    query_(take_projection(from, name, "to_q", "query", channels)),
    key_(take_projection(from, name, "to_k", "key", channels)),
    value_(take_projection(from, name, "to_v", "value", channels)),
    out_(take_projection(from, name, "to_out.0", "proj_attn", channels)) {}

torch::Tensor vae_attention::operator()(const torch::Tensor& x) const {
  // Permutes [n, c, h, w] to [n, 1, h w, c]: a view of a channels-last tensor.
  const auto places =
    norm_.normalise(x)
      .permute({0, 2, 3, 1})
      .reshape({x.size(0), 1, x.size(2) * x.size(3), x.size(1)});
  const auto y = out_(at::scaled_dot_product_attention(
    query_(places), key_(places), value_(places)));
  return y.view({x.size(0), x.size(2), x.size(3), x.size(1)})
    .permute({0, 3, 1, 2})
    .add_(x);
}

uint64_t vae_attention::bytes() const {
  return norm_.bytes() + query_.bytes() + key_.bytes() + value_.bytes()
       + out_.bytes();
}

vae_middle::vae_middle(weights& from, const std::string& name,
                       const autoencoder_config& config)
  : first_(from, name + ".resnets.0", config.block_out_channels.back(),
           config.block_out_channels.back(), config),
    second_(from, name + ".resnets.1", config.block_out_channels.back(),
            config.block_out_channels.back(), config) {
  if (config.mid_block_add_attention)
    attention_.emplace(from, name + ".attentions.0",
                       config.block_out_channels.back(), config);
}

void vae_middle::prepare() const {
  first_.prepare();
  second_.prepare();
}

torch::Tensor vae_middle::operator()(torch::Tensor x) const {
  x = first_(std::move(x));
  if (attention_)
    x = (*attention_)(x);
  return second_(std::move(x));
}

uint64_t vae_middle::bytes() const {
  return first_.bytes() + second_.bytes()
       + (attention_ ? attention_->bytes() : 0);
}

} // namespace atelier::gpu::detail
