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

/// Sums x - x0 and its square over `pixels` for up to `tile_vectors` vectors of
/// the `left` channels.
template <class Element>
void sum_channels(const Element* x, const Element* origin, int64_t channels,
                  int64_t pixels, int64_t left, float* sums, float* squares) {
  floats zero[tile_vectors], sum[tile_vectors], square[tile_vectors];
  const auto some = [left](int64_t j) { return first_lanes{left - j * lanes}; };
  ATELIER_UNROLL
  for (int64_t j = 0; j < tile_vectors; ++j) {
    zero[j] = load(origin + j * lanes, some(j));
    sum[j] = zeros();
    square[j] = zeros();
  }
  for (int64_t p = 0; p < pixels; ++p, x += channels) {
    ATELIER_UNROLL
    for (int64_t j = 0; j < tile_vectors; ++j) {
      const auto d = hw::Sub(load(x + j * lanes, some(j)), zero[j]);
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

/// Sums x - x0 and its square for each channel over one block of pixels, where
/// x0 is the row's first pixel. The numbers stay small, so that the variance of
/// a channel far from 0 is not lost.
template <class Element>
void sum_block(const group_norm_job& job, int64_t task) {
  const auto at = span_of(job, task);
  const auto all = detail::count_channels(job);
  auto* sums = job.sums + task * 2 * all;
  for (int part = 0; part < 2; ++part) {
    const auto channels = job.part_channels[part];
    const auto* x = pixel_of<Element>(job, part, at);
    const auto* origin = pixel_of<Element>(job, part, {at.row, 0, 1});
    for (int64_t c = 0; c < channels; c += strip_width)
      sum_channels(x + c, origin + c, channels, at.pixels, channels - c,
                   sums + c, sums + all + c);
    sums += channels;
  }
}

/// Computes the means of a row's channels, and the sums of squares around them.
template <class Element>
void find_moments(const group_norm_job& job, int64_t row, double* means,
                  double* squares) {
  const auto all = detail::count_channels(job);
  const auto count = static_cast<double>(job.pixels);
  const auto* sums = job.sums + row * detail::count_blocks(job) * 2 * all;
  for (int64_t c = 0; c < all; ++c)
    means[c] = squares[c] = 0;
  for (int64_t b = 0; b < detail::count_blocks(job); ++b, sums += 2 * all)
    for (int64_t c = 0; c < all; ++c) {
      means[c] += static_cast<double>(sums[c]);
      squares[c] += static_cast<double>(sums[all + c]);
    }
  for (int part = 0; part < 2; ++part) {
    const auto* origin = pixel_of<Element>(job, part, {row, 0, 1});
    for (int64_t c = 0; c < job.part_channels[part]; ++c, ++means, ++squares) {
      *squares -= *means * *means / count;
      *means = *means / count + as_double(origin[c]);
    }
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
  find_moments<Element>(job, row, means, squares);
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
      const auto by = as_double(weight[c]) * scale;
      factors[c] = static_cast<float>(by);
      factors[all + c] = static_cast<float>(
        std::fma(by, shift_of(c) - mean, as_double(bias[c])));
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
