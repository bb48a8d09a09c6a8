// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for kernels_*.cpp: see vectors.hpp.

#include <atelier/gpu/kernels/detail/functions.hpp>
#include <atelier/gpu/kernels/detail/norm_blocks.hpp>
#include <atelier/gpu/kernels/detail/products.hpp>
#include <atelier/gpu/kernels/detail/scratch_array.hpp>
#include <atelier/gpu/kernels/detail/vectors.hpp>
#include <atelier/gpu/kernels/host_norm.hpp>

#include <cmath>

namespace atelier::gpu::host::ATELIER_KERNEL_TARGET {

/// A task's pixels of one row.
struct norm_span {
  int64_t row;
  int64_t pixel;
  int64_t pixels;
};

inline norm_span span_of(const group_norm_job& job, int64_t task) {
  const auto blocks = detail::count_blocks(job);
  const auto pixel = task % blocks * detail::block_pixels;
  const auto left = job.pixels - pixel;
  return {task / blocks, pixel,
          left < detail::block_pixels ? left : detail::block_pixels};
}

template <class Element>
double as_double(Element x) {
  return static_cast<double>(number_of(x));
}

template <class Element>
const Element* pixel_of(const group_norm_job& job, int part,
                        const norm_span& at) {
  return static_cast<const Element*>(job.parts[part])
       + (at.row * job.pixels + at.pixel) * job.part_channels[part];
}

/// Finds a mean m of `pixels` for up to `tile_vectors` vectors of the `left`
/// channels, and the sums of x - m, which rounding leaves, and of its square.
template <class Element>
void sum_channels(const Element* x, int64_t channels, int64_t pixels,
                  int64_t left, float* sums, float* squares, float* centers) {
  floats center[tile_vectors], sum[tile_vectors], square[tile_vectors];
  const auto some = [left](int64_t j) { return first_lanes{left - j * lanes}; };
  ATELIER_UNROLL
  for (int64_t j = 0; j < tile_vectors; ++j) {
    center[j] = load(x + j * lanes, some(j));
    sum[j] = zeros();
  }
  const auto* y = x;
  for (int64_t p = 0; p < pixels; ++p, y += channels) {
    ATELIER_UNROLL
    for (int64_t j = 0; j < tile_vectors; ++j)
      sum[j] =
        hw::Add(sum[j], hw::Sub(load(y + j * lanes, some(j)), center[j]));
  }
  const auto share = broadcast(1 / static_cast<float>(pixels));
  ATELIER_UNROLL
  for (int64_t j = 0; j < tile_vectors; ++j) {
    center[j] = hw::MulAdd(sum[j], share, center[j]);
    store(centers + j * lanes, some(j), center[j]);
    sum[j] = zeros();
    square[j] = zeros();
  }
  for (int64_t p = 0; p < pixels; ++p, x += channels) {
    ATELIER_UNROLL
    for (int64_t j = 0; j < tile_vectors; ++j) {
      const auto d = hw::Sub(load(x + j * lanes, some(j)), center[j]);
      sum[j] = hw::Add(sum[j], d);
      square[j] = hw::MulAdd(d, d, square[j]);
    }
  }
  ATELIER_UNROLL
  for (int64_t j = 0; j < tile_vectors; ++j) {
    store(sums + j * lanes, some(j), sum[j]);
    store(squares + j * lanes, some(j), square[j]);
  }
}

/// Sums each channel over one block of pixels. Its numbers are taken around the
/// block's own mean, so that the variance of a channel far from 0, or with a
/// few pixels far from the others, is not lost.
template <class Element>
void sum_block(const group_norm_job& job, int64_t task) {
  const auto at = span_of(job, task);
  const auto all = detail::count_channels(job);
  auto* sums = job.sums + task * 3 * all;
  for (int part = 0; part < 2; ++part) {
    const auto channels = job.part_channels[part];
    const auto* x = pixel_of<Element>(job, part, at);
    for (int64_t c = 0; c < channels; c += strip_width)
      sum_channels(x + c, channels, at.pixels, channels - c, sums + c,
                   sums + all + c, sums + 2 * all + c);
    sums += channels;
  }
}

/// Computes the means of a row's channels, and the sums of squares around them:
/// those of a block join those of the blocks before.
/// Source: Chan, Golub and LeVeque, Updating Formulae and a Pairwise Algorithm
/// for Computing Sample Variances, 1979.
inline void find_moments(const group_norm_job& job, int64_t row, double* means,
                         double* squares) {
  const auto all = detail::count_channels(job);
  const auto blocks = detail::count_blocks(job);
  const auto* sums = job.sums + row * blocks * 3 * all;
  for (int64_t c = 0; c < all; ++c)
    means[c] = squares[c] = 0;
  double before = 0;
  for (int64_t b = 0; b < blocks; ++b, sums += 3 * all) {
    const auto left = job.pixels - b * detail::block_pixels;
    const auto count = static_cast<double>(
      left < detail::block_pixels ? left : detail::block_pixels);
    const auto share = count / (before + count);
    for (int64_t c = 0; c < all; ++c) {
      const auto sum = static_cast<double>(sums[c]);
      const auto mean = sum / count + static_cast<double>(sums[2 * all + c]);
      const auto off = mean - means[c];
      squares[c] += static_cast<double>(sums[all + c]) - sum * sum / count
                  + off * off * before * share;
      means[c] += off * share;
    }
    before += count;
  }
}

template <class Element>
void find_row(const group_norm_job& job, int64_t row, double* means,
              double* squares) {
  const auto all = detail::count_channels(job);
  const auto width = all / job.groups;
  const auto count = static_cast<double>(job.pixels);
  const auto* weight = static_cast<const Element*>(job.weight);
  const auto* bias = static_cast<const Element*>(job.bias);
  const auto* shift = static_cast<const Element*>(job.shift);
  auto* factors = job.factors + row * 2 * all;
  const auto shift_of = [&](int64_t c) {
    return shift == nullptr ? 0 : as_double(shift[row * all + c]);
  };
  find_moments(job, row, means, squares);
  for (int64_t first = 0; first < all; first += width) {
    double mean = 0;
    for (auto c = first; c < first + width; ++c)
      mean += means[c] + shift_of(c);
    mean /= static_cast<double>(width);
    double variance = 0;
    for (auto c = first; c < first + width; ++c) {
      const auto off = means[c] + shift_of(c) - mean;
      variance += std::fma(count * off, off, squares[c]);
    }
    variance /= count * static_cast<double>(width);
    const auto scale =
      1 / std::sqrt((variance > 0 ? variance : 0) + job.epsilon);
    for (auto c = first; c < first + width; ++c) {
      factors[c] = static_cast<float>(as_double(weight[c]) * scale);
      // With the factor as it is applied: far from 0, its rounding shows.
      factors[all + c] =
        static_cast<float>(std::fma(static_cast<double>(factors[c]),
                                    shift_of(c) - mean, as_double(bias[c])));
    }
  }
}

template <bool Silu, class Element>
void apply_block(const group_norm_job& job, int64_t task) {
  const auto at = span_of(job, task);
  const auto all = detail::count_channels(job);
  const auto* scales = job.factors + at.row * 2 * all;
  const auto* offsets = scales + all;
  auto* out =
    static_cast<Element*>(job.out) + (at.row * job.pixels + at.pixel) * all;
  for (int64_t p = 0; p < at.pixels; ++p) {
    int64_t done = 0;
    for (int part = 0; part < 2; ++part) {
      const auto channels = job.part_channels[part];
      const auto* x = pixel_of<Element>(job, part, at) + p * channels;
      for (int64_t c = 0; c < channels; c += lanes, x += lanes) {
        const first_lanes some{channels - c};
        auto y = hw::MulAdd(load(x, some), load(scales + done + c, some),
                            load(offsets + done + c, some));
        if constexpr (Silu)
          y = silu_of(y);
        store(out + done + c, some, y);
      }
      done += channels;
    }
    out += all;
  }
}

template <class Element>
void apply_tasks(const group_norm_job& job, int64_t first, int64_t last) {
  for (auto task = first; task < last; ++task)
    if (job.silu)
      apply_block<true, Element>(job, task);
    else
      apply_block<false, Element>(job, task);
}

inline void sum_blocks(const group_norm_job& job, int64_t first, int64_t last) {
  for (auto task = first; task < last; ++task)
    if (job.type == element::float32)
      sum_block<float>(job, task);
    else
      sum_block<bfloat16>(job, task);
}

inline void find_factors(const group_norm_job& job, int64_t first,
                         int64_t last) {
  const auto all = detail::count_channels(job);
  const scratch_array<double> room{2 * all};
  for (auto row = first; row < last; ++row)
    if (job.type == element::float32)
      find_row<float>(job, row, room.get(), room.get() + all);
    else
      find_row<bfloat16>(job, row, room.get(), room.get() + all);
}

inline void apply_factors(const group_norm_job& job, int64_t first,
                          int64_t last) {
  if (job.type == element::float32)
    apply_tasks<float>(job, first, last);
  else
    apply_tasks<bfloat16>(job, first, last);
}

} // namespace atelier::gpu::host::ATELIER_KERNEL_TARGET
