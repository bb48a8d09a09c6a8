// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/stripes.hpp>
#include <atelier/gpu/models/layers/upsample_conv.hpp>

#include <ATen/Parallel.h>

#include <cstring>

namespace atelier::gpu::detail {

namespace {

// Copies the results around corners to their places. `from`: [h, w + 1, 4 c],
// of corner lines that begin at `first`; `to`: [2 side, 2 w, c].
template <class T>
void place_corners(const T* from, T* to, int64_t lines, int64_t first,
                   int64_t side, int64_t width, int64_t channels) {
  const auto pair = static_cast<size_t>(2 * channels) * sizeof(T);
  const auto corners = width + 1;
  at::parallel_for(0, 2 * lines, 1, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto below = i % 2;
      const auto line = 2 * (first + i / 2) - 1 + below;
      if (line < 0 || line >= 2 * side)
        continue;
      const auto* source = from + (i / 2 * corners * 4 + below * 2) * channels;
      auto* target = to + line * 2 * width * channels;
      // The outermost corners have one result inside the image.
      std::memcpy(target, source + channels, pair / 2);
      for (int64_t x = 1; x < width; ++x)
        std::memcpy(target + (2 * x - 1) * channels, source + x * 4 * channels,
                    pair);
      std::memcpy(target + (2 * width - 1) * channels,
                  source + width * 4 * channels, pair / 2);
    }
  });
}

} // namespace

torch::Tensor corner_weights(const torch::Tensor& weight) {
  // If a result is before the corner, the first two of a kernel's three
  // elements along an axis see the element before the corner. If it is after
  // the corner, the second and third see the element after it.
  const auto along = [](const torch::Tensor& x, int64_t axis) {
    const auto part = [&](int64_t begin, int64_t count) {
      return x.narrow(axis, begin, count).sum(axis, true);
    };
    return torch::stack({torch::cat({part(0, 2), part(2, 1)}, axis),
                         torch::cat({part(0, 1), part(1, 2)}, axis)});
  };
  // Shape: [above or below, left or right, out, in, 2, 2].
  const auto rows = along(weight.to(torch::kFloat32), 2);
  const auto both = torch::stack({along(rows[0], 3), along(rows[1], 3)});
  return both.reshape({4 * weight.size(0), weight.size(1), 2, 2});
}

upsample_conv upsample_conv::take(weights& from, const std::string& name,
                                  int64_t channels) {
  upsample_conv out;
  const auto where = from.where();
  out.corners_ = where.device.is_cpu();
  if (!out.corners_) {
    out.conv_ = conv_layer::take(from, name, channels, channels, 3);
    return out;
  }
  const auto weight =
    from.take(name + ".weight", {channels, channels, 3, 3}, torch::kFloat32);
  const auto bias = from.take(name + ".bias", {channels}).repeat({4});
  out.conv_ = {
    [weight, type = where.dtype] { return corner_weights(weight).to(type); },
    from.release_later(name + ".weight"),
    bias,
    {4 * channels, channels, 2, 2},
    where};
  return out;
}

torch::Tensor upsample_conv::operator()(const torch::Tensor& x) const {
  if (!corners_)
    return conv_(at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)}),
                 {1, 1});
  if (x.size(0) == 1)
    return by_corners(x);
  std::vector<torch::Tensor> rows;
  for (const auto& row : x.split(1))
    rows.push_back(by_corners(row));
  return torch::cat(rows);
}

torch::Tensor upsample_conv::by_corners(const torch::Tensor& x) const {
  const auto channels = x.size(1);
  const auto height = x.size(2);
  const auto width = x.size(3);
  const auto in = x.contiguous(at::MemoryFormat::ChannelsLast);
  auto out = at::empty({1, channels, 2 * height, 2 * width}, in.options(),
                       at::MemoryFormat::ChannelsLast);
  const auto lines = stripe_lines(4 * width * channels * in.element_size());
  // There is one more line of corners than lines of elements.
  for (int64_t first = 0; first <= height; first += lines) {
    const auto end = std::min(first + lines, height + 1);
    const auto above = first == 0 ? int64_t{1} : 0;
    const auto below = end == height + 1 ? int64_t{1} : 0;
    auto seen =
      in.narrow(2, first - 1 + above, end - first + 1 - above - below);
    if (above + below > 0)
      seen = at::constant_pad_nd(seen, {0, 0, above, below});
    const auto made = conv_(seen, {0, 1});
    if (made.element_size() == 4)
      place_corners(static_cast<const uint32_t*>(made.const_data_ptr()),
                    static_cast<uint32_t*>(out.mutable_data_ptr()), end - first,
                    first, height, width, channels);
    else
      place_corners(static_cast<const uint16_t*>(made.const_data_ptr()),
                    static_cast<uint16_t*>(out.mutable_data_ptr()), end - first,
                    first, height, width, channels);
  }
  return out;
}

} // namespace atelier::gpu::detail
