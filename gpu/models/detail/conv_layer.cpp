// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/conv_layer.hpp>

#include <ATen/core/dispatch/Dispatcher.h>

namespace atelier::gpu::detail {

namespace {

using torch::Tensor;
using scalars = c10::List<std::optional<at::Scalar>>;

constexpr auto channels_last = at::MemoryFormat::ChannelsLast;

// Operators that LibTorch has for its compiler and does not declare.
template <class Signature>
const c10::TypedOperatorHandle<Signature>& find(const char* name,
                                                const char* overload) {
  static const auto found = c10::Dispatcher::singleton()
                              .findSchemaOrThrow(name, overload)
                              .template typed<Signature>();
  return found;
}

Tensor pack(const Tensor& weight) {
  using signature
    = Tensor(const Tensor&, at::IntArrayRef, at::IntArrayRef, at::IntArrayRef,
             int64_t, at::OptionalIntArrayRef);
  static const auto op
    = find<signature>("mkldnn::_reorder_convolution_weight", "");
  return op.call(weight, {0, 0}, {1, 1}, {1, 1}, 1, std::nullopt);
}

Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias,
                conv_border border, int64_t stride) {
  using signature = Tensor(const Tensor&, const Tensor&,
                           const std::optional<Tensor>&, at::IntArrayRef,
                           at::IntArrayRef, at::IntArrayRef, int64_t,
                           std::string_view, scalars,
                           std::optional<std::string_view>);
  static const auto op
    = find<signature>("mkldnn::_convolution_pointwise", "");
  const std::optional<Tensor> offset
    = bias.defined() ? std::optional{bias} : std::nullopt;
  return op.call(x, weight, offset, {border.rows, border.columns},
                 {stride, stride}, {1, 1}, 1, "none", scalars{}, "");
}

void add_convolved(Tensor sum, const Tensor& x, const Tensor& weight,
                   const Tensor& bias, conv_border border) {
  using signature = Tensor&(
    Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>&,
    at::IntArrayRef, at::IntArrayRef, at::IntArrayRef, int64_t,
    std::string_view, std::optional<at::Scalar>,
    std::optional<std::string_view>, scalars, std::optional<std::string_view>);
  static const auto op
    = find<signature>("mkldnn::_convolution_pointwise_", "binary");
  const std::optional<Tensor> offset
    = bias.defined() ? std::optional{bias} : std::nullopt;
  op.call(sum, x, weight, offset, {border.rows, border.columns}, {1, 1}, {1, 1},
          1, "add", at::Scalar{1.0}, std::nullopt, scalars{}, std::nullopt);
}

// Where LibTorch itself would give the work to oneDNN.
bool can_pack(const Tensor& weight) {
  if (!weight.is_cpu() || !at::globalContext().userEnabledMkldnn()
      || !at::hasMKLDNN())
    return false;
  if (weight.scalar_type() == torch::kFloat32)
    return true;
  return weight.scalar_type() == torch::kBFloat16
         && at::get_cpu_capability() == "AVX512";
}

} // namespace

conv_layer::conv_layer(const torch::Tensor& weight, torch::Tensor bias)
  : bias_(std::move(bias)),
    out_channels_(weight.size(0)),
    packed_(can_pack(weight)) {
  weight_ = packed_ ? pack(weight) : weight.contiguous(channels_last);
}

conv_layer conv_layer::take(weights& from, const std::string& name, int64_t out,
                            int64_t in, int64_t kernel, conv_bias bias) {
  const auto weight = from.take(name + ".weight", {out, in, kernel, kernel});
  return {weight, bias == conv_bias::present ? from.take(name + ".bias", {out})
                                             : torch::Tensor{}};
}

torch::Tensor conv_layer::operator()(const torch::Tensor& x, conv_border border,
                                     int64_t stride) const {
  const auto in = x.contiguous(channels_last);
  if (packed_)
    return convolve(in, weight_, bias_, border, stride);
  return at::conv2d(in, weight_, bias_, stride, {border.rows, border.columns});
}

void conv_layer::add_to(const torch::Tensor& sum, const torch::Tensor& x,
                        conv_border border) const {
  if (packed_)
    add_convolved(sum, x.contiguous(channels_last), weight_, bias_, border);
  else
    sum.add_((*this)(x, border));
}

uint64_t conv_layer::bytes() const {
  const auto one = c10::elementSize(weight_.scalar_type());
  return static_cast<uint64_t>(weight_.numel()) * one
         + (bias_.defined() ? bias_.nbytes() : 0);
}

} // namespace atelier::gpu::detail
