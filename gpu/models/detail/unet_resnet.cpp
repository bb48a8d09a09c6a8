// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/unet_resnet.hpp>

namespace atelier::gpu::detail {

resnet_block::resnet_block(weights& from, const std::string& name, int64_t in,
                           int64_t out, const unet_config& config, double scale)
  : norm1_(from, name + ".norm1", in, config.norm_groups, config.norm_eps),
    conv1_(from, name + ".conv1", in, out, 3),
    time_(from, name + ".time_emb_proj", config.time_embedding_dim,
          config.time_scale_shift ? 2 * out : out),
    norm2_(from, name + ".norm2", out, config.norm_groups, config.norm_eps),
    conv2_(from, name + ".conv2", out, out, 3),
    scale_shift_(config.time_scale_shift),
    scale_(scale) {
  if (in != out)
    shortcut_ = linear::of_pixel(from, name + ".conv_shortcut", in, out);
}

torch::Tensor resnet_block::operator()(const torch::Tensor& x,
                                       const torch::Tensor& skip,
                                       const torch::Tensor& time) const {
  const auto in = skip.defined() ? torch::cat({x, skip}, 1) : x;
  auto y = conv1_(norm1_(in, after_norm::silu));
  const auto shift = time_(time);
  if (scale_shift_) {
    const auto parts = shift.unsqueeze(-1).unsqueeze(-1).chunk(2, 1);
    y = norm2_(y, after_norm::nothing);
    y = y.mul_(parts[0] + 1).add_(parts[1]);
    torch::silu_(y);
  } else {
    y = norm2_.shifted(y, shift, after_norm::silu);
  }
  y = conv2_.plus(
    y, shortcut_ ? (*shortcut_)(in.permute({0, 2, 3, 1})).permute({0, 3, 1, 2})
                 : in);
  return scale_ == 1 ? y : y.div_(scale_);
}

} // namespace atelier::gpu::detail
