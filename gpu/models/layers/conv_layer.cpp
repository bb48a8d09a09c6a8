// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/conv_layer.hpp>
#include <atelier/gpu/models/layers/detail/host_side.hpp>
#include <atelier/gpu/models/layers/host_convolution.hpp>

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

bool has_onednn(const placement& where) {
  return where.device.is_cpu() && at::globalContext().userEnabledMkldnn()
      && at::hasMKLDNN();
}

} // namespace

// With AVX-512, oneDNN takes as long as the host's kernels, and a fraction
// where it multiplies tiles of bfloat16. With less it takes 1.4 times as long
// in float32, and has no fast bfloat16 (bench/RESULTS.md).
conv_layer::engine conv_layer::choose(const placement& where) {
  const bool onednn = has_onednn(where);
  const bool wide = at::get_cpu_capability() == "AVX512";
  if (onednn && wide
      && (where.dtype == torch::kFloat32 || where.dtype == torch::kBFloat16))
    return engine::onednn;
  if (host_element(where))
    return engine::host;
  return onednn && where.dtype == torch::kFloat32 ? engine::onednn
                                                  : engine::libtorch;
}

conv_layer::conv_layer(std::function<torch::Tensor()> make,
                       std::function<void()> made, torch::Tensor bias,
                       at::IntArrayRef shape, const placement& where)
  : make_(std::move(make)),
    made_(std::move(made)),
    bias_(std::move(bias)),
    out_channels_(shape[0]),
    in_channels_(shape[1]),
    kernel_(shape[2]),
    type_(host_element(where).value_or(host::element::float32)),
    engine_(choose(where)) {
  if (engine_ == engine::host)
    bytes_ = host_weights::bytes_of(type_, out_channels_, pieces());
  else
    bytes_ = static_cast<uint64_t>(c10::multiply_integers(shape))
             * c10::elementSize(where.dtype)
           + (bias_.defined() ? bias_.nbytes() : 0);
  if (!where.device.is_cpu())
    prepare();
}

std::vector<int64_t> conv_layer::pieces() const {
  return std::vector<int64_t>(static_cast<size_t>(kernel_ * kernel_),
                              readable_channels(in_channels_, type_));
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
  if (!make_)
    return;
  const c10::InferenceMode guard;
  const auto weight = make_();
  if (engine_ == engine::host) {
    host_ = {type_, out_channels_, pieces()};
    host_.put(0, 0, with_channels(weight.flatten(2), host_.channels(0)));
    if (bias_.defined())
      host_.put_bias(0, bias_);
  } else {
    weight_ =
      engine_ == engine::onednn ? pack(weight) : weight.contiguous(pixelwise);
  }
  // A 1x1 kernel is in every memory order at once, so it may still be in the
  // file.
  make_ = nullptr;
  if (!weight_.defined() || engine_ == engine::onednn
      || !weight_.is_alias_of(weight))
    made_();
  made_ = nullptr;
}

void conv_layer::by_host(const torch::Tensor& x, conv_border border,
                         int64_t stride, const torch::Tensor& onto,
                         const torch::Tensor& out) const {
  convolve(host_, {kernel_, stride, border.rows, border.columns},
           {with_channels(x, host_.channels(0))},
           {.height = x.size(2), .width = x.size(3)}, onto, out);
}

void conv_layer::expect(const torch::Tensor& x) const {
  TORCH_CHECK(x.dim() == 4 && x.size(1) == in_channels_, "a convolution of ",
              in_channels_, " channels was given ", x.sizes());
}

torch::Tensor conv_layer::operator()(const torch::Tensor& x, conv_border border,
                                     int64_t stride) const {
  expect(x);
  prepare();
  if (engine_ == engine::host) {
    const auto size = [&](int64_t in, int64_t zeros) {
      return (in + 2 * zeros - kernel_) / stride + 1;
    };
    const auto out =
      room_like(x, x.size(0), out_channels_, size(x.size(2), border.rows),
                size(x.size(3), border.columns));
    by_host(x, border, stride, {}, out);
    return out;
  }
  const auto in = x.contiguous(pixelwise);
  if (engine_ == engine::onednn)
    return convolve(in, weight_, bias_, border, stride);
  return at::conv2d(in, weight_, bias_, stride, {border.rows, border.columns});
}

void conv_layer::add_to(const torch::Tensor& sum, const torch::Tensor& x,
                        conv_border border) const {
  expect(x);
  prepare();
  if (engine_ == engine::host)
    by_host(x, border, 1, sum, sum);
  else if (engine_ == engine::onednn)
    add_convolved(sum, x.contiguous(pixelwise), weight_, bias_, border);
  else
    sum.add_((*this)(x, border));
}

} // namespace atelier::gpu::detail
