// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/stripes.hpp>

#include <algorithm>

namespace atelier::gpu::detail {

namespace {

// A stripe of input and one of output fit the caches of small servers.
constexpr int64_t stripe_bytes = 8 << 20;
// With fewer lines, those that neighbours both need would cost too much.
constexpr int64_t fewest_lines = 8;

constexpr int64_t lines_axis = 2;

// Calls use(first, count, stripe) for stripes of silu(normalised x) with an
// extra line on either side, which is zero outside the image.
template <class Function>
void for_each_stripe(const torch::Tensor& x, const folded_norm& norm,
                     const Function& use) {
  const auto channels = x.size(1);
  const auto height = x.size(2);
  const auto width = x.size(3);
  const auto lines =
    std::min(stripe_lines(width * channels * x.element_size()), height);
  const auto buffer = at::empty({1, channels, lines + 2, width}, x.options(),
                                at::MemoryFormat::ChannelsLast);
  for (int64_t first = 0; first < height; first += lines) {
    const auto count = std::min(lines, height - first);
    const auto begin = std::max(first - 1, int64_t{0});
    const auto end = std::min(first + count + 1, height);
    if (first == 0)
      buffer.narrow(lines_axis, 0, 1).zero_();
    if (first + count == height)
      buffer.narrow(lines_axis, count + 1, 1).zero_();
    apply_norm(x.narrow(lines_axis, begin, end - begin), norm,
               after_scaling::silu,
               buffer.narrow(lines_axis, begin - (first - 1), end - begin));
    use(first, count, buffer.narrow(lines_axis, 0, count + 2));
  }
}

} // namespace

int64_t stripe_lines(int64_t bytes_of_line) {
  return std::max(stripe_bytes / std::max(bytes_of_line, int64_t{1}),
                  fewest_lines);
}

bool can_stripe(const torch::Tensor& x) {
  return has_norm_kernels(x) && x.size(0) == 1
      && x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

torch::Tensor conv_of_normed(const torch::Tensor& x, const folded_norm& norm,
                             const conv_layer& conv) {
  torch::Tensor out;
  for_each_stripe(
    x, norm, [&](int64_t first, int64_t count, const torch::Tensor& stripe) {
      const auto made = conv(stripe, {0, 1});
      if (count == x.size(lines_axis)) {
        out = made;
        return;
      }
      if (!out.defined())
        out = at::empty({1, conv.out_channels(), x.size(2), x.size(3)},
                        x.options(), at::MemoryFormat::ChannelsLast);
      out.narrow(lines_axis, first, count).copy_(made);
    });
  return out;
}

void add_conv_of_normed(const torch::Tensor& sum, const torch::Tensor& x,
                        const folded_norm& norm, const conv_layer& conv) {
  for_each_stripe(
    x, norm, [&](int64_t first, int64_t count, const torch::Tensor& stripe) {
      conv.add_to(sum.narrow(lines_axis, first, count), stripe, {0, 1});
    });
}

} // namespace atelier::gpu::detail
