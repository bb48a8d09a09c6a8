// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/conv_layer.hpp>

#include <ATen/core/dispatch/Dispatcher.h>

namespace atelier::gpu::detail {

namespace {

using torch::Tensor;
using scalars = c10::List<std::optional<at::Scalar>>;

constexpr auto pixelwise = at::MemoryFormat::ChannelsLast;

// Operators that LibTorch has for its compiler and does not declare. Each
// caller keeps its own, as several operators may have one signature.
template <class Signature>
c10::TypedOperatorHandle<Signature> find(const char* name,
                                         const char* overload) {
  return c10::Dispatcher::singleton()
    .findSchemaOrThrow(name, overload)
    .template typed<Signature>();
}

Tensor pack(const Tensor& weight) {
  using signature = Tensor(const Tensor&, at::IntArrayRef, at::IntArrayRef,
                           at::IntArrayRef, int64_t, at::OptionalIntArrayRef);
  static const auto op =
    find<signature>("mkldnn::_reorder_convolution_weight", "");
  return op.call(weight, {0, 0}, {1, 1}, {1, 1}, 1, std::nullopt);
}

Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias,
                conv_border border, int64_t stride) {
  using signature =
    Tensor(const Tensor&, const Tensor&, const std::optional<Tensor>&,
           at::IntArrayRef, at::IntArrayRef, at::IntArrayRef, int64_t,
           std::string_view, scalars, std::optional<std::string_view>);
  static const auto op = find<signature>("mkldnn::_convolution_pointwise", "");
  const std::optional<Tensor> offset =
    bias.defined() ? std::optional{bias} : std::nullopt;
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
  static const auto op =
    find<signature>("mkldnn::_convolution_pointwise_", "binary");
  const std::optional<Tensor> offset =
    bias.defined() ? std::optional{bias} : std::nullopt;
  op.call(sum, x, weight, offset, {border.rows, border.columns}, {1, 1}, {1, 1},
          1, "add", at::Scalar{1.0}, std::nullopt, scalars{}, std::nullopt);
}

// Returns whether LibTorch itself would use oneDNN.
bool can_pack(const placement& where) {
  if (!where.device.is_cpu() || !at::globalContext().userEnabledMkldnn()
      || !at::hasMKLDNN())
    return false;
  if (where.dtype == torch::kFloat32)
    return true;
  return where.dtype == torch::kBFloat16
      && at::get_cpu_capability() == "AVX512";
}

} // namespace

conv_layer::conv_layer(std::function<torch::Tensor()> make,
                       std::function<void()> made, torch::Tensor bias,
                       at::IntArrayRef shape, const placement& where)
  : make_(std::move(make)),
    made_(std::move(made)),
    bias_(std::move(bias)),
    out_channels_(shape[0]),
    in_channels_(shape[1]),
    packed_(can_pack(where)) {
  bytes_ = static_cast<uint64_t>(c10::multiply_integers(shape))
           * c10::elementSize(where.dtype)
         + (bias_.defined() ? bias_.nbytes() : 0);
  if (!where.device.is_cpu())
    prepare();
}

conv_layer conv_layer::take(weights& from, const std::string& name, int64_t out,
                            int64_t in, int64_t kernel, conv_bias bias) {
  const std::vector<int64_t> shape{out, in, kernel, kernel};
  const auto offset = bias == conv_bias::present
                      ? from.take(name + ".bias", {out})
                      : torch::Tensor{};
  return {[weight = from.take(name + ".weight", shape)] { return weight; },
          from.release_later(name + ".weight"), offset, shape, from.where()};
}

void conv_layer::prepare() const {
  if (weight_.defined())
    return;
  const c10::InferenceMode guard;
  const auto weight = make_();
  weight_ = packed_ ? pack(weight) : weight.contiguous(pixelwise);
  // A 1x1 kernel is in every memory order at once, so it may still be in the
  // file.
  make_ = nullptr;
  if (packed_ || !weight_.is_alias_of(weight))
    made_();
  made_ = nullptr;
}

void conv_layer::expect(const torch::Tensor& x) const {
  TORCH_CHECK(x.dim() == 4 && x.size(1) == in_channels_, "a convolution of ",
              in_channels_, " channels was given ", x.sizes());
}

torch::Tensor conv_layer::operator()(const torch::Tensor& x, conv_border border,
                                     int64_t stride) const {
  expect(x);
  prepare();
  const auto in = x.contiguous(pixelwise);
  if (packed_)
    return convolve(in, weight_, bias_, border, stride);
  return at::conv2d(in, weight_, bias_, stride, {border.rows, border.columns});
}

void conv_layer::add_to(const torch::Tensor& sum, const torch::Tensor& x,
                        conv_border border) const {
  expect(x);
  prepare();
  if (packed_)
    add_convolved(sum, x.contiguous(pixelwise), weight_, bias_, border);
  else
    sum.add_((*this)(x, border));
}

} // namespace atelier::gpu::detail
