// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/dense.hpp>
#include <atelier/gpu/models/layers/detail/host_side.hpp>
#include <atelier/gpu/models/layers/host_convolution.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atelier::gpu::detail {

namespace {

// Returns the type in which the host's kernels, which read bfloat16 in pairs of
// channels, multiply; nothing if LibTorch multiplies, which splits its sums by
// the number of rows.
std::optional<host::element> element_for(weights& from,
                                         const std::vector<int64_t>& channels) {
  auto type = host_element(from.where());
  const auto is_odd = [](int64_t x) { return x % 2 != 0; };
  if (type == host::element::bfloat16 && std::ranges::any_of(channels, is_odd))
    type.reset();
  if (!type)
    from.mark_batch_dependent();
  return type;
}

// Multiplies [..., in] by a matrix, into [..., outputs].
void multiply(const host_weights& by, const torch::Tensor& x, int64_t outputs,
              host::dense_end end, const torch::Tensor* onto,
              const torch::Tensor& out) {
  const auto in = x.size(-1);
  by.expect(0, x, in);
  TORCH_CHECK(out.is_contiguous() && out.scalar_type() == x.scalar_type()
                && out.numel() == x.numel() / in * outputs,
              "a product of ", x.sizes(), " with ", outputs,
              " columns does not fit ", out.sizes());
  const auto rows = x.reshape({-1, in}).contiguous();
  const host::dense_input input{.pixels = rows.const_data_ptr(),
                                .pixel_stride = in,
                                .width = rows.size(0),
                                .stored_width = rows.size(0)};
  const host::dense_piece piece{.channels = in};
  host::dense_job job;
  by.prepare(job);
  job.inputs = &input;
  job.pieces = &piece;
  job.piece_count = 1;
  job.rows = rows.size(0);
  job.out_width = rows.size(0);
  job.end = end;
  job.out = out.mutable_data_ptr();
  job.out_stride = outputs;
  if (onto != nullptr) {
    job.onto = onto->const_data_ptr();
    job.onto_stride = outputs;
  }
  run_whole(job);
}

torch::Tensor room_for(const torch::Tensor& x, int64_t outputs) {
  auto shape = x.sizes().vec();
  shape.back() = outputs;
  return torch::empty(shape, x.options());
}

// Returns the nearest of `from` elements for each of `to`, as computed by
// at::upsample_nearest2d.
std::vector<int32_t> nearest(int64_t from, int64_t to) {
  const auto scale = static_cast<float>(from) / static_cast<float>(to);
  std::vector<int32_t> out(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i)
    out[static_cast<size_t>(i)] = static_cast<int32_t>(
      std::min(static_cast<int64_t>(static_cast<float>(i) * scale), from - 1));
  return out;
}

} // namespace

linear::linear(weights& from, int64_t in, int64_t out) : out_(out) {
  if (const auto type = element_for(from, {in})) {
    host_ = {*type, out, {in}};
    from.keeps(host_.bytes(), out * in);
  }
}

void linear::put(weights& from, const std::string& name, int64_t at,
                 const torch::Tensor& weight) {
  if (host_.empty()) {
    weight_ = weight_.defined() ? torch::cat({weight_, weight}) : weight;
    return;
  }
  host_.put(0, at, weight);
  from.let_go(name + ".weight");
}

void linear::put_bias(weights& from, const std::string& name, int64_t out) {
  const auto bias = from.take(name + ".bias", {out});
  if (host_.empty()) {
    bias_ = bias;
    return;
  }
  host_.put_bias(0, bias);
  from.keeps(0, out);
}

linear::linear(weights& from, const std::string& name, int64_t in, int64_t out,
               bool biased)
  : linear(from, in, out) {
  put(from, name, 0, from.take(name + ".weight", {out, in}));
  if (biased)
    put_bias(from, name, out);
}

linear linear::of_pixel(weights& from, const std::string& name, int64_t in,
                        int64_t out) {
  linear made{from, in, out};
  made.put(from, name, 0,
           from.take(name + ".weight", {out, in, 1, 1}).reshape({out, in}));
  made.put_bias(from, name, out);
  return made;
}

linear linear::joined(weights& from, const std::vector<std::string>& names,
                      int64_t in, int64_t out) {
  linear made{from, in, out * static_cast<int64_t>(names.size())};
  int64_t at = 0;
  for (const auto& name : names) {
    made.put(from, name, at, from.take(name + ".weight", {out, in}));
    at += out;
  }
  return made;
}

torch::Tensor linear::operator()(const torch::Tensor& x) const {
  if (host_.empty())
    return torch::linear(x, weight_, bias_);
  auto out = room_for(x, out_);
  multiply(host_, x, out_, host::dense_end::add, nullptr, out);
  return out;
}

torch::Tensor linear::add_to(const torch::Tensor& y,
                             const torch::Tensor& x) const {
  if (host_.empty())
    return y.add_(torch::linear(x, weight_, bias_));
  multiply(host_, x, out_, host::dense_end::add, &y, y);
  return y;
}

gated_linear::gated_linear(weights& from, const std::string& name, int64_t in,
                           int64_t out)
  : out_(out) {
  const auto weight = from.take(name + ".weight", {2 * out, in});
  const auto bias = from.take(name + ".bias", {2 * out});
  const auto type = element_for(from, {in});
  if (!type) {
    weight_ = weight;
    bias_ = bias;
    return;
  }
  // The first half of each panel holds values, the second half their gates.
  constexpr auto half = host::panel_width / 2;
  const auto panels = (out + half - 1) / half;
  host_ = {*type, 2 * out, {in}};
  from.keeps(host_.bytes(), 2 * out * (in + 1));
  for (int64_t panel = 0; panel < panels; ++panel) {
    const auto at = panel * host::panel_width;
    const auto first = panel * half;
    const auto count = std::min(half, out - first);
    for (const auto gate : {0, 1}) {
      const auto row = first + gate * out;
      host_.put(0, at + gate * half, weight.narrow(0, row, count));
      host_.put_bias(at + gate * half, bias.narrow(0, row, count));
    }
  }
  from.let_go(name + ".weight");
}

torch::Tensor gated_linear::operator()(const torch::Tensor& x) const {
  if (host_.empty()) {
    const auto both = torch::linear(x, weight_, bias_).chunk(2, -1);
    return both[0] * torch::gelu(both[1]);
  }
  auto out = room_for(x, out_);
  multiply(host_, x, out_, host::dense_end::gelu_gate, nullptr, out);
  return out;
}

conv::conv(weights& from, const std::string& name, const conv_shape& shape)
  : conv(from, name, shape, {}, {}) {}

conv::conv(weights& from, const std::string& name, const conv_shape& shape,
           const std::string& shortcut, const std::vector<int64_t>& parts)
  : shape_(shape), in_(shape.in) {
  if (const auto type = host_element(from.where()))
    in_ = readable_channels(shape.in, *type);
  const auto side = shape.kernel;
  const auto weight =
    from.take(name + ".weight", {shape.out, shape.in, side, side});
  const auto bias = from.take(name + ".bias", {shape.out});
  const auto beside = std::accumulate(parts.begin(), parts.end(), int64_t{0});
  torch::Tensor beside_weight;
  torch::Tensor beside_bias;
  if (!parts.empty()) {
    beside_weight = from.take(shortcut + ".weight", {shape.out, beside, 1, 1});
    beside_bias = from.take(shortcut + ".bias", {shape.out});
  }
  std::vector<int64_t> channels(static_cast<size_t>(side * side), in_);
  channels.insert(channels.end(), parts.begin(), parts.end());
  const auto type = element_for(from, channels);
  if (!type) {
    weight_ = weight.contiguous(torch::MemoryFormat::ChannelsLast);
    bias_ = bias;
    shortcut_weight_ = beside_weight;
    shortcut_bias_ = beside_bias;
    return;
  }
  host_ = {*type, shape.out, channels};
  from.keeps(host_.bytes(), weight.numel() + bias.numel());
  host_.put(0, 0, with_channels(weight.flatten(2), in_));
  auto piece = static_cast<size_t>(side * side);
  host_.put_bias(0, bias);
  from.let_go(name + ".weight");
  if (parts.empty())
    return;
  int64_t first = 0;
  for (const auto part : parts) {
    host_.put(
      piece++, 0,
      beside_weight.reshape({shape.out, beside}).narrow(1, first, part));
    first += part;
  }
  host_.put_bias(0, beside_bias);
  from.keeps(0, beside_weight.numel() + beside_bias.numel());
  from.let_go(shortcut + ".weight");
}

torch::Tensor conv::run(std::vector<torch::Tensor> inputs,
                        const host::dense_input& first, int64_t h, int64_t w,
                        const torch::Tensor& onto) const {
  auto& x = inputs.front();
  TORCH_CHECK(x.dim() == 4 && x.size(1) == shape_.in, "a convolution of ",
              shape_.in, " channels was given ", x.sizes());
  x = with_channels(x, in_);
  TORCH_CHECK(h > 0 && w > 0, "a convolution of ", x.sizes(),
              " has no results");
  auto out = room_like(x, x.size(0), shape_.out, h, w);
  convolve(host_,
           {shape_.kernel, shape_.stride, shape_.padding, shape_.padding},
           inputs, first, onto, out);
  return out;
}

torch::Tensor conv::operator()(const torch::Tensor& x) const {
  return plus(x, {});
}

torch::Tensor conv::plus(const torch::Tensor& x, const torch::Tensor& y) const {
  if (host_.empty()) {
    auto out = torch::conv2d(x, weight_, bias_, shape_.stride, shape_.padding);
    return y.defined() ? out.add_(y) : out;
  }
  const auto size = [this](int64_t in) {
    return (in + 2 * shape_.padding - shape_.kernel) / shape_.stride + 1;
  };
  return run({x}, {.height = x.size(2), .width = x.size(3)}, size(x.size(2)),
             size(x.size(3)), y);
}

torch::Tensor conv::with_shortcut(
  const torch::Tensor& x, const std::vector<torch::Tensor>& parts) const {
  if (host_.empty()) {
    const auto all = parts.size() == 1 ? parts.front() : torch::cat(parts, 1);
    return (*this)(x).add_(
      torch::conv2d(all, shortcut_weight_, shortcut_bias_));
  }
  std::vector<torch::Tensor> inputs{x};
  inputs.insert(inputs.end(), parts.begin(), parts.end());
  return run(inputs, {.height = x.size(2), .width = x.size(3)}, x.size(2),
             x.size(3), {});
}

torch::Tensor conv::enlarged(const torch::Tensor& x, int64_t h,
                             int64_t w) const {
  if (host_.empty())
    return (*this)(torch::upsample_nearest2d(x, {h, w}));
  const auto row_of = nearest(x.size(2), h);
  const auto column_of = nearest(x.size(3), w);
  return run({x},
             {.height = h,
              .width = w,
              .row_of = row_of.data(),
              .column_of = column_of.data()},
             h, w, {});
}

torch::Tensor conv::padded_after(const torch::Tensor& x) const {
  if (host_.empty())
    return (*this)(torch::constant_pad_nd(x, {0, 1, 0, 1}));
  // Outside its sides, a map is zero.
  const auto size = [this](int64_t in) {
    return (in + 1 - shape_.kernel) / shape_.stride + 1;
  };
  return run({x}, {.height = x.size(2), .width = x.size(3)}, size(x.size(2)),
             size(x.size(3)), {});
}

} // namespace atelier::gpu::detail
