// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/activations.hpp>
#include <atelier/gpu/models/unet/detail/unet_resnet.hpp>

#include <numeric>

namespace atelier::gpu::detail {

namespace {

int64_t sum(const std::vector<int64_t>& x) {
  return std::accumulate(x.begin(), x.end(), int64_t{0});
}

} // namespace

resnet_block::resnet_block(weights& from, const std::string& name,
                           const std::vector<int64_t>& in, int64_t out,
                           const unet_config& config, double scale)
  : norm1_(from, name + ".norm1", sum(in), config.norm_groups, config.norm_eps),
    conv1_(from, name + ".conv1", {.in = sum(in), .out = out}),
    time_(from, name + ".time_emb_proj", config.time_embedding_dim,
          config.time_scale_shift ? 2 * out : out),
    norm2_(from, name + ".norm2", out, config.norm_groups, config.norm_eps),
    conv2_(from, name + ".conv2", {.in = out, .out = out},
           name + ".conv_shortcut",
           sum(in) == out ? std::vector<int64_t>{} : in),
    has_shortcut_(sum(in) != out),
    scale_shift_(config.time_scale_shift),
    scale_(scale) {}

torch::Tensor resnet_block::operator()(const torch::Tensor& x,
                                       const torch::Tensor& skip,
                                       const torch::Tensor& time) const {
  auto y = conv1_(skip.defined() ? norm1_.joined(x, skip, after_norm::silu)
                                 : norm1_(x, after_norm::silu));
  const auto shift = time_(time);
  if (scale_shift_) {
    const auto parts = shift.unsqueeze(-1).unsqueeze(-1).chunk(2, 1);
    y = norm2_(y, after_norm::nothing);
    y = y.mul_(parts[0] + 1).add_(parts[1]);
    silu_in_place(y);
  } else {
    y = norm2_.shifted(y, shift, after_norm::silu);
  }
  if (has_shortcut_ && skip.defined())
    y = conv2_.with_shortcut(y, {x, skip});
  else if (has_shortcut_)
    y = conv2_.with_shortcut(y, {x});
  else
    y = conv2_.plus(y, skip.defined() ? torch::cat({x, skip}, 1) : x);
  return scale_ == 1 ? y : y.div_(scale_);
}

} // namespace atelier::gpu::detail
