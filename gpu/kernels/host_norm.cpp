// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX-512.
#include <atelier/gpu/kernels/detail/vectors.hpp>
#include <atelier/gpu/kernels/host_norm.hpp>

#include <bit>
#include <cmath>
#include <memory>

namespace atelier::gpu::host {

namespace {

using namespace detail;

// Fixed, so that sums do not depend on what else is computed.
constexpr int64_t block_pixels = 128;

int64_t channels_of(const group_norm_job& job) {
  return job.part_channels[0] + job.part_channels[1];
}

int64_t blocks_of(const group_norm_job& job) {
  return (job.pixels + block_pixels - 1) / block_pixels;
}

struct span {
  int64_t row;
  int64_t pixel;
  int64_t pixels;
};

span span_of(const group_norm_job& job, int64_t task) {
  const auto blocks = blocks_of(job);
  const auto pixel = task % blocks * block_pixels;
  const auto left = job.pixels - pixel;
  return {task / blocks, pixel, left < block_pixels ? left : block_pixels};
}

double as_double(float x) {
  return static_cast<double>(x);
}

double as_double(bfloat16 x) {
  return static_cast<double>(
    std::bit_cast<float>(static_cast<uint32_t>(x) << 16));
}

template <class Element>
const Element* pixel_of(const group_norm_job& job, int part, const span& at) {
  return static_cast<const Element*>(job.parts[part])
       + (at.row * job.pixels + at.pixel) * job.part_channels[part];
}

// Sums x - x0 and its square for each channel over one block of pixels, where
// x0 is the row's first pixel. The numbers stay small, so that the variance of
// a channel far from 0 is not lost.
template <class Element>
void sum_block(const group_norm_job& job, int64_t task) {
  const auto at = span_of(job, task);
  const auto all = channels_of(job);
  auto* sums = job.sums + task * 2 * all;
  for (int part = 0; part < 2; ++part) {
    const auto channels = job.part_channels[part];
    const auto* x = pixel_of<Element>(job, part, at);
    const auto* origin = pixel_of<Element>(job, part, {at.row, 0, 1});
    for (int64_t c = 0; c < channels; c += 64) {
      __m512 zero[4], sum[4], square[4];
      __mmask16 mask[4];
      ATELIER_UNROLL
      for (size_t j = 0; j < 4; ++j) {
        mask[j] = lanes(channels - c - static_cast<int64_t>(j) * 16);
        zero[j] = load(origin + c + j * 16, mask[j]);
        sum[j] = _mm512_setzero_ps();
        square[j] = _mm512_setzero_ps();
      }
      for (int64_t p = 0; p < at.pixels; ++p) {
        ATELIER_UNROLL
        for (size_t j = 0; j < 4; ++j) {
          const auto d = _mm512_sub_ps(
            load(x + p * channels + c + j * 16, mask[j]), zero[j]);
          sum[j] = _mm512_add_ps(sum[j], d);
          square[j] = _mm512_fmadd_ps(d, d, square[j]);
        }
      }
      ATELIER_UNROLL
      for (size_t j = 0; j < 4; ++j) {
        store(sums + c + j * 16, mask[j], sum[j]);
        store(sums + all + c + j * 16, mask[j], square[j]);
      }
    }
    sums += channels;
  }
}

// Computes the means of a row's channels, and the sums of squares around them.
template <class Element>
void find_moments(const group_norm_job& job, int64_t row, double* means,
                  double* squares) {
  const auto all = channels_of(job);
  const auto count = static_cast<double>(job.pixels);
  const auto* sums = job.sums + row * blocks_of(job) * 2 * all;
  for (int64_t c = 0; c < all; ++c)
    means[c] = squares[c] = 0;
  for (int64_t b = 0; b < blocks_of(job); ++b, sums += 2 * all)
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
  const auto all = channels_of(job);
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
      variance += squares[c] + count * off * off;
    }
    variance /= count * static_cast<double>(width);
    const auto scale =
      1 / std::sqrt((variance > 0 ? variance : 0) + job.epsilon);
    for (auto c = first; c < first + width; ++c) {
      const auto by = as_double(weight[c]) * scale;
      factors[c] = static_cast<float>(by);
      factors[all + c] =
        static_cast<float>(as_double(bias[c]) + by * (shift_of(c) - mean));
    }
  }
}

template <bool Silu, class Element>
void apply_block(const group_norm_job& job, int64_t task) {
  const auto at = span_of(job, task);
  const auto all = channels_of(job);
  const auto* scales = job.factors + at.row * 2 * all;
  const auto* offsets = scales + all;
  auto* out =
    static_cast<Element*>(job.out) + (at.row * job.pixels + at.pixel) * all;
  for (int64_t p = 0; p < at.pixels; ++p) {
    int64_t done = 0;
    for (int part = 0; part < 2; ++part) {
      const auto channels = job.part_channels[part];
      const auto* x = pixel_of<Element>(job, part, at) + p * channels;
      for (int64_t c = 0; c < channels; c += 16, x += 16) {
        const auto mask = lanes(channels - c);
        auto y = _mm512_fmadd_ps(load(x, mask), load(scales + done + c, mask),
                                 load(offsets + done + c, mask));
        if constexpr (Silu)
          y = silu_of(y);
        store(out + done + c, mask, y);
      }
      done += channels;
    }
    out += all;
  }
}

template <class Element>
void apply(const group_norm_job& job, int64_t first, int64_t last) {
  for (auto task = first; task < last; ++task)
    if (job.silu)
      apply_block<true, Element>(job, task);
    else
      apply_block<false, Element>(job, task);
}

} // namespace

int64_t count_norm_sums(const group_norm_job& job) {
  return count_norm_tasks(job) * 2 * channels_of(job);
}

int64_t count_norm_factors(const group_norm_job& job) {
  return job.rows * 2 * channels_of(job);
}

int64_t count_norm_tasks(const group_norm_job& job) {
  return job.rows * blocks_of(job);
}

void sum_blocks(const group_norm_job& job, int64_t first, int64_t last) {
  for (auto task = first; task < last; ++task)
    if (job.type == element::float32)
      sum_block<float>(job, task);
    else
      sum_block<bfloat16>(job, task);
}

void find_factors(const group_norm_job& job, int64_t first, int64_t last) {
  const auto all = channels_of(job);
  const std::unique_ptr<double[]> room{
    new double[static_cast<size_t>(2 * all)]};
  for (auto row = first; row < last; ++row)
    if (job.type == element::float32)
      find_row<float>(job, row, room.get(), room.get() + all);
    else
      find_row<bfloat16>(job, row, room.get(), room.get() + all);
}

void apply_factors(const group_norm_job& job, int64_t first, int64_t last) {
  if (job.type == element::float32)
    apply<float>(job, first, last);
  else
    apply<bfloat16>(job, first, last);
}

} // namespace atelier::gpu::host
