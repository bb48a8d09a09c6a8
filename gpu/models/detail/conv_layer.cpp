// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/conv_layer.hpp>

namespace atelier::gpu::detail {

conv_layer conv_layer::take(weights& from, const std::string& name, int64_t out,
                            int64_t in, int64_t kernel, conv_bias bias) {
  conv_layer x;
  x.weight_ = from.take(name + ".weight", {out, in, kernel, kernel})
                .contiguous(at::MemoryFormat::ChannelsLast);
  if (bias == conv_bias::present)
    x.bias_ = from.take(name + ".bias", {out});
  return x;
}

torch::Tensor conv_layer::operator()(const torch::Tensor& x, int64_t padding,
                                     int64_t stride) const {
  return at::conv2d(x, weight_, bias_, stride, padding);
}

uint64_t conv_layer::bytes() const {
  return weight_.nbytes() + (bias_.defined() ? bias_.nbytes() : 0);
}

} // namespace atelier::gpu::detail
