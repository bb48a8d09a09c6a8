// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for kernels_*.cpp: see vectors.hpp. A task is one panel of columns by up
// to `block_rows` rows. Each piece is processed in chunks of channels, up to
// `chunk_bytes` of a row; the weights of a chunk are used for all rows before
// the next. With AVX-512 the innermost loop keeps the sums of all columns of a
// panel in registers. With AVX2 it takes the panel in strips, whose weights are
// copied so that they lie together in the first-level cache. What is not
// multiplied as bfloat16 is widened in such copies.

#include <atelier/gpu/kernels/detail/dense_rows.hpp>
#include <atelier/gpu/kernels/detail/functions.hpp>
#include <atelier/gpu/kernels/detail/products.hpp>
#include <atelier/gpu/kernels/detail/scratch_array.hpp>
#include <atelier/gpu/kernels/detail/vectors.hpp>
#include <atelier/gpu/kernels/host_dense.hpp>

namespace atelier::gpu::host::ATELIER_KERNEL_TARGET {

using detail::block_rows;

constexpr int64_t chunk_bytes = 1280;
/// Channels of a chunk that is multiplied as float32, at most.
constexpr int64_t most_floats = chunk_bytes / 4;
/// Rows that are widened at a time, for all strips.
constexpr int64_t group_rows = 4 * tile_rows;
constexpr size_t row_floats = panel_width;

/// Adds the products of `count` channels from `first` on to sums [rows,
/// panel_width]. They are summed apart first, so that the error of a long sum
/// grows with the numbers of chunks and of their channels, not with all.
template <class Factor>
struct dense_tile {
  template <size_t Rows, size_t Vectors>
  static void tile(const void* const* rows, int64_t first, int64_t count,
                   const Factor* weights, int64_t stride, float* sums,
                   bool clear) {
    floats sum[Rows][Vectors];
    const Factor* row[Rows];
    ATELIER_UNROLL
    for (size_t i = 0; i < Rows; ++i) {
      row[i] = static_cast<const Factor*>(rows[i]) + first;
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j)
        sum[i][j] = zeros();
    }
    add_products(sum, row, count, weights, stride);
    ATELIER_UNROLL
    for (size_t i = 0; i < Rows; ++i) {
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j) {
        auto* const to = sums + i * row_floats + j * lane_count;
        hw::Store(clear ? sum[i][j]
                        : hw::Add(hw::Load(float_tag, to), sum[i][j]),
                  float_tag, to);
      }
    }
  }
};

template <class Element>
void finish_adding(const dense_job& job, int64_t row, int64_t rows,
                   int64_t panel, const float* sums) {
  const auto column = panel * panel_width;
  const auto width = job.columns - column;
  const auto* onto = static_cast<const Element*>(job.onto);
  auto* out = static_cast<Element*>(job.out);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < panel_width && j < width; j += lanes) {
      const first_lanes some{width - j};
      auto x = hw::Add(hw::Load(float_tag, sums + i * panel_width + j),
                       load(job.bias + column + j));
      if (onto != nullptr)
        x = hw::Add(
          x, load(onto + (row + i) * job.onto_stride + column + j, some));
      store(out + (row + i) * job.out_stride + column + j, some, x);
    }
}

template <class Element>
void finish_gating(const dense_job& job, int64_t row, int64_t rows,
                   int64_t panel, const float* sums) {
  constexpr auto half = panel_width / 2;
  const auto column = panel * half;
  const auto width = job.columns / 2 - column;
  const auto* bias = job.bias + panel * panel_width;
  auto* out = static_cast<Element*>(job.out);
  for (int64_t i = 0; i < rows; ++i, sums += panel_width)
    for (int64_t j = 0; j < half && j < width; j += lanes) {
      const auto value = hw::Add(hw::Load(float_tag, sums + j), load(bias + j));
      const auto gate =
        hw::Add(hw::Load(float_tag, sums + half + j), load(bias + half + j));
      store(out + (row + i) * job.out_stride + column + j,
            first_lanes{width - j}, hw::Mul(value, gelu_of(gate)));
    }
}

/// A thread's buffers.
struct dense_scratch {
  explicit dense_scratch(const dense_job& job)
    : sums(block_rows * panel_width),
      addresses(job.piece_count * block_rows),
      strips(most_floats * panel_width),
      rows(group_rows * most_floats) {}

  scratch_array<float> sums;
  scratch_array<const void*> addresses;
  // Copies of weights and rows as float32; see copy_strip, widen_rows.
  scratch_array<float> strips;
  scratch_array<float> rows;
};

/// Copies the weights of a strip to [count, strip_width].
inline void copy_strip(const float* weights, int64_t count, float* to) {
  for (int64_t k = 0; k < count; ++k, weights += panel_width, to += strip_width)
    for (int64_t j = 0; j < strip_width; j += lanes)
      hw::Store(hw::Load(float_tag, weights + j), float_tag, to + j);
}

inline void copy_strip(const bfloat16* weights, int64_t count, float* to) {
  const auto upper = hw::Set(word_tag, uint32_t{0xffff0000});
  for (int64_t k = 0; k < count;
       k += 2, weights += 2 * panel_width, to += 2 * strip_width)
    for (int64_t j = 0; j < strip_width; j += lanes) {
      const auto pairs = load_pairs(weights + 2 * j);
      hw::Store(hw::BitCast(float_tag, hw::ShiftLeft<16>(pairs)), float_tag,
                to + j);
      hw::Store(hw::BitCast(float_tag, hw::And(pairs, upper)), float_tag,
                to + strip_width + j);
    }
}

/// Widens `count` channels of a group's rows from `first` on, and writes the
/// addresses of the copies.
inline void widen_rows(const void* const* rows, int64_t row_count,
                       int64_t first, int64_t count, float* room,
                       const void** to) {
  for (int64_t i = 0; i < row_count; ++i, room += most_floats) {
    const auto* const row = static_cast<const bfloat16*>(rows[i]) + first;
    for (int64_t k = 0; k < count; k += lanes)
      hw::Store(load(row + k, first_lanes{count - k}), float_tag, room + k);
    to[i] = room;
  }
}

/// The weights of one chunk of a panel.
template <class Factor>
struct dense_chunk {
  const Factor* weights;
  /// Columns' weights of one channel to those of the next.
  int64_t stride;
  /// From one strip to the next.
  int64_t strip_stride;
};

/// Adds the products of one chunk, from channel `first` of the rows on, to sums
/// [row_count, panel_width].
template <class Factor>
void add_chunk(const void* const* rows, int64_t row_count, int64_t first,
               int64_t count, int64_t columns, const dense_chunk<Factor>& by,
               float* sums, bool clear) {
  const auto* weights = by.weights;
  for (int64_t strip = 0; strip < columns; strip += strip_width) {
    const auto left = columns - strip;
    const auto vectors =
      left >= strip_width ? tile_vectors : (left + lanes - 1) / lanes;
    for (int64_t i = 0; i < row_count; i += tile_rows) {
      const auto tile = row_count - i < tile_rows ? row_count - i : tile_rows;
      tiles<dense_tile<Factor>>(tile, vectors)(
        rows + i, first, count, weights, by.stride,
        sums + i * panel_width + strip, clear);
    }
    weights += by.strip_stride;
  }
}

/// Copies the weights of a chunk, strip after strip.
template <class Element>
dense_chunk<float> copy_chunk(const Element* weights, int64_t count,
                              int64_t columns, const dense_scratch& with) {
  auto* to = with.strips.get();
  for (int64_t strip = 0; strip < columns; strip += strip_width) {
    copy_strip(weights + strip * pair_of<Element>, count, to);
    to += count * strip_width;
  }
  return {with.strips.get(), strip_width, count * strip_width};
}

/// Does the same as add_chunk with weights in the layout of pack_dense.
template <class Element>
void add_packed(const void* const* rows, int64_t row_count, int64_t first,
                int64_t count, int64_t columns, const Element* weights,
                const dense_scratch& with, bool clear) {
  auto* const sums = with.sums.get();
  if constexpr (sizeof(factor<Element>) != sizeof(Element)) {
    const auto by = copy_chunk(weights, count, columns, with);
    for (int64_t i = 0; i < row_count; i += group_rows) {
      const auto group =
        row_count - i < group_rows ? row_count - i : group_rows;
      const void* widened[group_rows];
      widen_rows(rows + i, group, first, count, with.rows.get(), widened);
      add_chunk(widened, group, 0, count, columns, by, sums + i * panel_width,
                clear);
    }
  } else {
    dense_chunk<Element> by{weights, panel_width,
                            strip_width * pair_of<Element>};
    // A copy for a single tile does not pay.
    if constexpr (strip_width < panel_width)
      if (row_count > tile_rows)
        by = copy_chunk(weights, count, columns, with);
    add_chunk(rows, row_count, first, count, columns, by, sums, clear);
  }
}

template <class Element>
void multiply_tasks(const dense_job& job, int64_t first, int64_t last) {
  constexpr auto size = static_cast<int64_t>(sizeof(factor<Element>));
  const auto panels = detail::count_panels(job);
  const dense_scratch with{job};
  int64_t found = -1;
  for (auto task = first; task < last; ++task) {
    const auto block = task / panels;
    const auto panel = task % panels;
    const auto row = block * block_rows;
    const auto rows = job.rows - row < block_rows ? job.rows - row : block_rows;
    if (block != found)
      detail::find_rows(job, row, rows, with.addresses.get());
    found = block;
    const auto left = job.columns - panel * panel_width;
    const auto whole = left >= panel_width || job.end == dense_end::gelu_gate;
    const auto* weights =
      static_cast<const Element*>(job.weights) + panel * job.panel_elements;
    auto clear = true;
    for (int64_t p = 0; p < job.piece_count; ++p) {
      const auto channels = job.pieces[p].channels;
      const auto chunks = (channels * size + chunk_bytes - 1) / chunk_bytes;
      const auto chunk = round_up((channels + chunks - 1) / chunks, 16);
      for (int64_t c = 0; c < channels; c += chunk) {
        const auto count = channels - c < chunk ? channels - c : chunk;
        add_packed(with.addresses.get() + p * block_rows, rows, c, count,
                   whole ? panel_width : left, weights, with, clear);
        clear = false;
        weights += packed_elements(count);
      }
    }
    if (job.end == dense_end::gelu_gate)
      finish_gating<Element>(job, row, rows, panel, with.sums.get());
    else
      finish_adding<Element>(job, row, rows, panel, with.sums.get());
  }
}

inline void run_dense(const dense_job& job, int64_t first, int64_t last) {
  if (job.type == element::float32)
    multiply_tasks<float>(job, first, last);
  else
    multiply_tasks<bfloat16>(job, first, last);
}

} // namespace atelier::gpu::host::ATELIER_KERNEL_TARGET
