// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for kernels_*.cpp: see vectors.hpp. A task is up to `block_queries`
// queries of one head. Its keys are laid out in panels (transposed), its values
// in rows padded to whole vectors. Then each key block is processed in tiles of
// 6 queries: scores, the running maximum and sum, and the weighted values, all
// in the caches. What is not multiplied as bfloat16 is laid out as float32.

#include <atelier/gpu/kernels/detail/attention_blocks.hpp>
#include <atelier/gpu/kernels/detail/functions.hpp>
#include <atelier/gpu/kernels/detail/products.hpp>
#include <atelier/gpu/kernels/detail/scratch_array.hpp>
#include <atelier/gpu/kernels/detail/vectors.hpp>
#include <atelier/gpu/kernels/host_attention.hpp>

namespace atelier::gpu::host::ATELIER_KERNEL_TARGET {

using detail::block_queries;

constexpr int64_t block_keys = 512;
constexpr size_t score_stride = block_keys;
// Far below every score, and finite, so that differences are finite too.
constexpr float lowest = -1e30F;

/// Computes the scores of some keys of a panel.
template <class Factor>
struct score_tile {
  template <size_t Rows, size_t Vectors>
  static void tile(const Factor* const* queries, int64_t width,
                   const Factor* keys, float* to) {
    const Factor* x[Rows];
    floats sum[Rows][Vectors];
    ATELIER_UNROLL
    for (size_t i = 0; i < Rows; ++i) {
      x[i] = queries[i];
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j)
        sum[i][j] = zeros();
    }
    add_products(sum, x, width, keys, strip_width);
    ATELIER_UNROLL
    for (size_t i = 0; i < Rows; ++i) {
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j)
        hw::Store(sum[i][j], float_tag, to + i * score_stride + j * lane_count);
    }
  }
};

/// Scales the previous sums and adds the values of one block of keys, which are
/// summed apart first.
template <class Factor>
struct value_tile {
  template <size_t Rows, size_t Vectors>
  static void tile(const Factor* shares, int64_t count, const Factor* values,
                   int64_t value_stride, const float* factors, float* sums,
                   int64_t sum_stride) {
    const Factor* x[Rows];
    floats sum[Rows][Vectors];
    ATELIER_UNROLL
    for (size_t i = 0; i < Rows; ++i) {
      x[i] = shares + i * score_stride;
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j)
        sum[i][j] = zeros();
    }
    add_products(sum, x, count, values, value_stride);
    ATELIER_UNROLL
    for (size_t i = 0; i < Rows; ++i) {
      const auto factor = broadcast(factors[i]);
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j) {
        auto* const to =
          sums + static_cast<int64_t>(i) * sum_stride + j * lane_count;
        hw::Store(hw::MulAdd(factor, hw::Load(float_tag, to), sum[i][j]),
                  float_tag, to);
      }
    }
  }
};

/// A thread's buffers.
template <class Element>
struct attention_scratch {
  explicit attention_scratch(const attention_job& job)
    : key_room(round_up(job.key_tokens, panel_width)),
      value_width(round_up(job.head_width, lanes)),
      keys(key_room * job.head_width),
      values(key_room * value_width),
      queries(tile_rows * job.head_width),
      scores(tile_rows * block_keys),
      shares(tile_rows * block_keys),
      sums(block_queries * value_width),
      most(block_queries),
      total(block_queries) {}

  int64_t key_room;
  int64_t value_width;
  scratch_array<factor<Element>> keys;
  scratch_array<factor<Element>> values;
  // Only used if the factors are not the elements.
  scratch_array<factor<Element>> queries;
  scratch_array<float> scores;
  // Not used for float32, whose scores become shares in place.
  scratch_array<factor<Element>> shares;
  scratch_array<float> sums;
  scratch_array<float> most;
  scratch_array<float> total;
};

template <class Element>
const Element* head_of(const attention_input& in, int64_t row, int64_t head,
                       int64_t width) {
  return static_cast<const Element*>(in.tokens) + row * in.row_stride
       + head * width;
}

/// Returns an element as what is multiplied.
template <class Factor, class Element>
Factor factor_of(Element x) {
  if constexpr (sizeof(Factor) == sizeof(Element))
    return x;
  else
    return number_of(x);
}

template <class Element>
void lay_out(const attention_job& job, const Element* keys,
             const Element* values, attention_scratch<Element>& with) {
  using to_type = factor<Element>;
  constexpr auto pair = pair_of<to_type>;
  const auto width = job.head_width;
  const auto tail = with.key_room - job.key_tokens;
  auto* to = with.keys.get();
  for (int64_t t = 0; t < with.key_room; ++t) {
    auto* at =
      to + t / strip_width * strip_width * width + t % strip_width * pair;
    const auto* from = keys + t * job.keys.token_stride;
    const auto there = t < job.key_tokens;
    for (int64_t d = 0; d < width; d += pair)
      for (int64_t e = 0; e < pair; ++e)
        at[d * strip_width + e] =
          there ? factor_of<to_type>(from[d + e]) : to_type{};
  }
  auto* v = with.values.get();
  const auto wide = with.value_width;
  if (tail > 0 || wide > width)
    std::memset(v, 0,
                static_cast<size_t>(with.key_room * wide) * sizeof(to_type));
  for (int64_t t = 0; t < job.key_tokens; ++t) {
    const auto* from = values + t * job.values.token_stride;
    auto* at = v + t / pair * pair * wide + t % pair;
    for (int64_t d = 0; d < width; ++d)
      at[d * pair] = factor_of<to_type>(from[d]);
  }
}

/// Turns scores into shares of e^score, relative to the maximum so far.
template <class Factor>
void take_shares(const attention_job& job, int64_t tile, int64_t keys,
                 float* scores, Factor* shares, float* most, float* total,
                 float* factors) {
  const auto log2_scale = job.scale * 1.44269504F;
  const auto by = broadcast(log2_scale);
  const auto room = round_up(keys, lanes);
  for (int64_t i = 0; i < tile; ++i) {
    auto* row = scores + i * block_keys;
    if (keys < room) {
      const auto last = room - lanes;
      hw::Store(hw::IfThenElse(first_lanes{keys - last}.mask,
                               hw::Load(float_tag, row + last),
                               broadcast(lowest)),
                float_tag, row + last);
    }
    auto high = broadcast(most[i]);
    for (int64_t j = 0; j < room; j += lanes)
      high = hw::Max(high, hw::Load(float_tag, row + j));
    const auto now = hw::GetLane(hw::MaxOfLanes(float_tag, high));
    const auto top = broadcast(now);
    auto sum = zeros();
    for (int64_t j = 0; j < room; j += lanes) {
      const auto share =
        exp2_of(hw::Mul(hw::Sub(hw::Load(float_tag, row + j), top), by));
      sum = hw::Add(sum, share);
      store(shares + i * block_keys + j, share);
    }
    // As for the shares: the difference first, which is exact for near scores.
    factors[i] = hw::GetLane(exp2_of(broadcast((most[i] - now) * log2_scale)));
    total[i] = total[i] * factors[i] + sum_of(float_tag, sum);
    most[i] = now;
  }
}

template <class Factor>
void find_scores(const Factor* const* queries, int64_t tile, int64_t keys,
                 const Factor* packed, int64_t width, float* scores) {
  for (int64_t key = 0; key < keys; key += strip_width) {
    const auto left = keys - key;
    const auto vectors =
      left >= strip_width ? tile_vectors : (left + lanes - 1) / lanes;
    tiles<score_tile<Factor>>(tile, vectors)(
      queries, width, packed + key * width, scores + key);
  }
}

/// Adds the values of a block of keys, weighted by their shares, to sums
/// [tile, wide].
template <class Factor>
void add_values(int64_t tile, int64_t keys, const Factor* shares,
                const Factor* values, int64_t wide, const float* factors,
                float* sums) {
  // The passes are as few as possible and have about as many vectors each.
  const auto vectors = wide / lanes;
  const auto passes = (vectors + tile_vectors - 1) / tile_vectors;
  for (int64_t pass = 0, v = 0; pass < passes; ++pass) {
    const auto here = (vectors - v + passes - pass - 1) / (passes - pass);
    tiles<value_tile<Factor>>(tile, here)(
      shares, keys, values + v * lanes * pair_of<Factor>, wide, factors,
      sums + v * lanes, wide);
    v += here;
  }
}

/// Writes the addresses of a tile's queries, of copies if they are widened.
template <class Element>
void find_queries(const attention_job& job, const Element* queries,
                  int64_t tile, const attention_scratch<Element>& with,
                  const factor<Element>** to) {
  for (int64_t i = 0; i < tile; ++i) {
    const auto* const from = queries + i * job.queries.token_stride;
    if constexpr (sizeof(factor<Element>) == sizeof(Element)) {
      to[i] = from;
    } else {
      auto* const copy = with.queries.get() + i * job.head_width;
      for (int64_t d = 0; d < job.head_width; ++d)
        copy[d] = number_of(from[d]);
      to[i] = copy;
    }
  }
}

template <class Element>
void attend(const attention_job& job, const Element* queries, int64_t count,
            attention_scratch<Element>& with) {
  const auto width = job.head_width;
  const auto wide = with.value_width;
  auto* const shares = [&] {
    if constexpr (sizeof(factor<Element>) == 4)
      return with.scores.get();
    else
      return with.shares.get();
  }();
  std::memset(with.sums.get(), 0,
              static_cast<size_t>(count * wide) * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    with.most.get()[i] = lowest;
    with.total.get()[i] = 0;
  }
  for (int64_t k = 0; k < job.key_tokens; k += block_keys) {
    const auto keys =
      job.key_tokens - k < block_keys ? job.key_tokens - k : block_keys;
    for (int64_t q = 0; q < count; q += tile_rows) {
      const auto tile = count - q < tile_rows ? count - q : tile_rows;
      const factor<Element>* x[tile_rows];
      find_queries(job, queries + q * job.queries.token_stride, tile, with, x);
      find_scores(x, tile, keys, with.keys.get() + k * width, width,
                  with.scores.get());
      float factors[tile_rows];
      take_shares(job, tile, keys, with.scores.get(), shares,
                  with.most.get() + q, with.total.get() + q, factors);
      add_values(tile, keys, shares, with.values.get() + k * wide, wide,
                 factors, with.sums.get() + q * wide);
    }
  }
}

template <class Element>
void attend_tasks(const attention_job& job, int64_t first, int64_t last) {
  const auto blocks = detail::count_query_blocks(job);
  const auto width = job.head_width;
  attention_scratch<Element> with{job};
  int64_t laid_out = -1;
  for (auto task = first; task < last; ++task) {
    const auto head = task / blocks % job.heads;
    const auto row = task / blocks / job.heads;
    const auto query = task % blocks * block_queries;
    const auto count = job.query_tokens - query < block_queries
                       ? job.query_tokens - query
                       : block_queries;
    if (task / blocks != laid_out)
      lay_out(job, head_of<Element>(job.keys, row, head, width),
              head_of<Element>(job.values, row, head, width), with);
    laid_out = task / blocks;
    attend(job,
           head_of<Element>(job.queries, row, head, width)
             + query * job.queries.token_stride,
           count, with);
    auto* out = static_cast<Element*>(job.out) + row * job.out_row_stride
              + query * job.out_token_stride + head * width;
    for (int64_t i = 0; i < count; ++i, out += job.out_token_stride) {
      const auto share = broadcast(1 / with.total.get()[i]);
      const auto* const sums = with.sums.get() + i * with.value_width;
      for (int64_t d = 0; d < width; d += lanes)
        store(out + d, first_lanes{width - d},
              hw::Mul(share, hw::Load(float_tag, sums + d)));
    }
  }
}

inline void run_attention(const attention_job& job, int64_t first,
                          int64_t last) {
  if (job.type == element::float32)
    attend_tasks<float>(job, first, last);
  else
    attend_tasks<bfloat16>(job, first, last);
}

} // namespace atelier::gpu::host::ATELIER_KERNEL_TARGET
