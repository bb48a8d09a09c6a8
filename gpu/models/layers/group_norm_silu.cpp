// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/group_norm_silu.hpp>

#include <ATen/Parallel.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace atelier::gpu::detail {

namespace {

// The smallest number of elements worth a task of their own.
constexpr int64_t grain = 1 << 15;

bool is_pixelwise(const torch::Tensor& x) {
  return x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

// Runs `code` with the elements in the kernels' types.
template <class Function>
void with_elements(const torch::Tensor& x, const Function& code) {
  if (x.scalar_type() == torch::kFloat32)
    code(x.const_data_ptr<float>());
  else
    code(static_cast<const bfloat16_bits*>(x.const_data_ptr()));
}

template <class T>
T* writable(const T*, const torch::Tensor& x) {
  return static_cast<T*>(x.mutable_data_ptr());
}

// Sums of each channel over all its places, relative to a value near them.
struct moments {
  std::vector<float> pivot;
  std::vector<double> sum;
  std::vector<double> squares;

  explicit moments(size_t channels)
    : pivot(channels), sum(channels), squares(channels) {}
};

template <class T>
float value_of(const T* x) {
  if constexpr (std::is_same_v<T, float>)
    return *x;
  else
    return std::bit_cast<float>(uint32_t{x->value} << 16);
}

// Computes the moments of one row of a channels-last tensor. Tasks sum pieces
// whose number depends only on the shape.
template <class T>
moments moments_of_places(const T* x, int64_t places, int64_t channels) {
  const auto width = static_cast<size_t>(channels);
  moments out{width};
  for (size_t c = 0; c < width; ++c)
    out.pivot[c] = value_of(x + c);
  const auto piece = std::max(grain / channels, int64_t{1});
  const auto pieces = (places + piece - 1) / piece;
  std::vector<double> parts(2 * width * static_cast<size_t>(pieces));
  at::parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto count = std::min(piece, places - i * piece);
      auto* to = parts.data() + 2 * width * static_cast<size_t>(i);
      add_moments(x + i * piece * channels, static_cast<size_t>(count), width,
                  out.pivot.data(), to, to + width);
    }
  });
  for (size_t i = 0; i < static_cast<size_t>(pieces); ++i)
    for (size_t c = 0; c < width; ++c) {
      out.sum[c] += parts[2 * width * i + c];
      out.squares[c] += parts[2 * width * i + width + c];
    }
  return out;
}

// Computes the moments of one row of a contiguous tensor. A channel is a line
// of memory, whose places are treated as 64 channels and a rest.
template <class T>
moments moments_of_lines(const T* x, int64_t places, int64_t channels) {
  constexpr size_t lanes = 64;
  moments out{static_cast<size_t>(channels)};
  const auto count = static_cast<size_t>(places);
  at::parallel_for(0, channels, std::max(grain / places, int64_t{1}),
                   [&](int64_t begin, int64_t end) {
                     for (auto i = begin; i < end; ++i) {
                       const auto c = static_cast<size_t>(i);
                       const auto* line = x + i * places;
                       out.pivot[c] = value_of(line);
                       const std::vector<float> pivot(lanes, out.pivot[c]);
                       std::vector<double> parts(2 * lanes);
                       add_moments(line, count / lanes, lanes, pivot.data(),
                                   parts.data(), parts.data() + lanes);
                       add_moments(line + count / lanes * lanes, count % lanes,
                                   1, pivot.data(), &out.sum[c],
                                   &out.squares[c]);
                       for (size_t k = 0; k < lanes; ++k) {
                         out.sum[c] += parts[k];
                         out.squares[c] += parts[lanes + k];
                       }
                     }
                   });
  return out;
}

// Joins the channels' moments to those of their groups, each relative to the
// group's mean, so that no digits cancel.
void fold(const moments& from, int64_t places, int64_t groups,
          const float* weight, const float* bias, double eps, float* factor,
          float* offset) {
  const auto channels = from.sum.size();
  const auto in_group = channels / static_cast<size_t>(groups);
  const auto n = static_cast<double>(places);
  for (size_t first = 0; first < channels; first += in_group) {
    double mean = 0;
    for (auto c = first; c < first + in_group; ++c)
      mean += static_cast<double>(from.pivot[c]) + from.sum[c] / n;
    mean /= static_cast<double>(in_group);
    double variance = 0;
    for (auto c = first; c < first + in_group; ++c) {
      const auto off = static_cast<double>(from.pivot[c]) - mean;
      variance += from.squares[c] / n + 2 * off * (from.sum[c] / n) + off * off;
    }
    variance = std::max(variance / static_cast<double>(in_group), 0.0);
    const auto scale = 1 / std::sqrt(variance + eps);
    for (auto c = first; c < first + in_group; ++c) {
      const auto by = scale * static_cast<double>(weight[c]);
      factor[c] = static_cast<float>(by);
      offset[c] = static_cast<float>(static_cast<double>(bias[c]) - mean * by);
    }
  }
}

} // namespace

bool has_norm_kernels(const torch::Tensor& x) {
  return x.is_cpu() && x.dim() == 4 && x.numel() > 0
      && (x.scalar_type() == torch::kFloat32
          || x.scalar_type() == torch::kBFloat16)
      && (x.is_contiguous() || is_pixelwise(x));
}

folded_norm fold_group_norm(const torch::Tensor& x, int64_t groups,
                            const torch::Tensor& weight,
                            const torch::Tensor& bias, double eps) {
  const auto n = x.size(0);
  const auto channels = x.size(1);
  const auto places = x.size(2) * x.size(3);
  TORCH_CHECK(weight.numel() == channels && bias.numel() == channels
                && channels % groups == 0,
              "a norm of ", weight.numel(), " channels in ", groups,
              " groups was given ", x.sizes());
  const auto to = torch::TensorOptions(torch::kFloat32);
  folded_norm out{torch::empty({n, channels}, to),
                  torch::empty({n, channels}, to)};
  const auto w = weight.to(torch::kFloat32).contiguous();
  const auto b = bias.to(torch::kFloat32).contiguous();
  with_elements(x, [&](const auto* from) {
    for (int64_t i = 0; i < n; ++i) {
      const auto* row = from + i * channels * places;
      const auto found = is_pixelwise(x)
                         ? moments_of_places(row, places, channels)
                         : moments_of_lines(row, places, channels);
      fold(found, places, groups, w.const_data_ptr<float>(),
           b.const_data_ptr<float>(), eps,
           out.factor.mutable_data_ptr<float>() + i * channels,
           out.offset.mutable_data_ptr<float>() + i * channels);
    }
  });
  return out;
}

void apply_norm(const torch::Tensor& x, const folded_norm& norm,
                after_scaling then, const torch::Tensor& out) {
  const auto channels = x.size(1);
  const auto places = x.size(2) * x.size(3);
  const auto* factor = norm.factor.const_data_ptr<float>();
  const auto* offset = norm.offset.const_data_ptr<float>();
  const auto last = is_pixelwise(x);
  with_elements(x, [&](const auto* from) {
    auto* to = writable(from, out);
    if (last)
      for (int64_t i = 0; i < x.size(0); ++i)
        at::parallel_for(
          0, places, std::max(grain / channels, int64_t{1}),
          [&](int64_t begin, int64_t end) {
            const auto at = (i * places + begin) * channels;
            scale(from + at, to + at, static_cast<size_t>(end - begin),
                  static_cast<size_t>(channels), factor + i * channels,
                  offset + i * channels, then);
          });
    else
      at::parallel_for(0, x.size(0) * channels,
                       std::max(grain / places, int64_t{1}),
                       [&](int64_t begin, int64_t end) {
                         for (auto line = begin; line < end; ++line)
                           scale_alike(from + line * places, to + line * places,
                                       static_cast<size_t>(places),
                                       factor[line], offset[line], then);
                       });
  });
}

torch::Tensor normalise_groups(const torch::Tensor& x, int64_t groups,
                               const torch::Tensor& weight,
                               const torch::Tensor& bias, double eps,
                               after_scaling then) {
  if (!has_norm_kernels(x)) {
    auto y = at::group_norm(x, groups, weight, bias, eps);
    return then == after_scaling::silu ? at::silu_(y) : y;
  }
  auto out = at::empty_like(x);
  apply_norm(x, fold_group_norm(x, groups, weight, bias, eps), then, out);
  return out;
}

} // namespace atelier::gpu::detail
