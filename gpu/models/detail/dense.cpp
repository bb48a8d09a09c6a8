// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/dense.hpp>

namespace atelier::gpu::detail {

linear::linear(weights& from, const std::string& name, int64_t in, int64_t out,
               bool biased)
  : weight_(from.take(name + ".weight", {out, in})) {
  if (biased)
    bias_ = from.take(name + ".bias", {out});
}

linear linear::of_pixel(weights& from, const std::string& name, int64_t in,
                        int64_t out) {
  linear made;
  made.weight_ =
    from.take(name + ".weight", {out, in, 1, 1}).reshape({out, in});
  made.bias_ = from.take(name + ".bias", {out});
  return made;
}

linear linear::joined(weights& from, const std::vector<std::string>& names,
                      int64_t in, int64_t out) {
  std::vector<torch::Tensor> parts;
  for (const auto& name : names)
    parts.push_back(from.take(name + ".weight", {out, in}));
  linear made;
  made.weight_ = torch::cat(parts);
  return made;
}

torch::Tensor linear::operator()(const torch::Tensor& x) const {
  return torch::linear(x, weight_, bias_);
}

torch::Tensor linear::plus(const torch::Tensor& x,
                           const torch::Tensor& y) const {
  return (*this)(x).add_(y);
}

uint64_t linear::bytes() const {
  return weight_.nbytes() + (bias_.defined() ? bias_.nbytes() : 0);
}

conv::conv(weights& from, const std::string& name, int64_t in, int64_t out,
           int64_t kernel, int64_t stride, int64_t padding)
  : weight_(from.take(name + ".weight", {out, in, kernel, kernel})
              .contiguous(torch::MemoryFormat::ChannelsLast)),
    bias_(from.take(name + ".bias", {out})),
    stride_(stride),
    padding_(padding) {}

torch::Tensor conv::operator()(const torch::Tensor& x) const {
  return torch::conv2d(x, weight_, bias_, stride_, padding_);
}

torch::Tensor conv::plus(const torch::Tensor& x, const torch::Tensor& y) const {
  return (*this)(x).add_(y);
}

uint64_t conv::bytes() const {
  return weight_.nbytes() + bias_.nbytes();
}

} // namespace atelier::gpu::detail
