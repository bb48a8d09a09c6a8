// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for kernels_*.cpp: see vectors.hpp. Weights are transposed in squares of
// 16 by 16 words of 32 bits, a float32 or a pair of bfloat16. The output is
// read much later, if at all, so it bypasses the caches.

#include <atelier/gpu/kernels/detail/vectors.hpp>
#include <atelier/gpu/kernels/host_dense.hpp>

#include <hwy/cache_control.h>

namespace atelier::gpu::host::ATELIER_KERNEL_TARGET {

using word = uint32_t;

constexpr int64_t side = 16;

inline void put(word* to, words x) {
  if (reinterpret_cast<uintptr_t>(to) % (lanes * sizeof(word)) == 0)
    hw::Stream(x, word_tag, to);
  else
    hw::StoreU(x, word_tag, to);
}

/// Transposes a square of 4 by 4 words in each block of 128 bits of b[4 *
/// i]..b[4
/// * i + 3], for each i.
inline void transpose_in_blocks(words (&b)[lanes]) {
  constexpr hw::Repartition<uint64_t, hw::ScalableTag<word>> double_tag;
  const auto wide = [](words x) { return hw::BitCast(double_tag, x); };
  const auto lower = [&](words x, words y) {
    return hw::BitCast(word_tag,
                       hw::InterleaveLower(double_tag, wide(x), wide(y)));
  };
  const auto upper = [&](words x, words y) {
    return hw::BitCast(word_tag,
                       hw::InterleaveUpper(double_tag, wide(x), wide(y)));
  };
  words a[lanes];
  ATELIER_UNROLL
  for (int64_t i = 0; i < lanes; i += 2) {
    a[i] = hw::InterleaveLower(word_tag, b[i], b[i + 1]);
    a[i + 1] = hw::InterleaveUpper(word_tag, b[i], b[i + 1]);
  }
  ATELIER_UNROLL
  for (int64_t i = 0; i < lanes; i += 4) {
    b[i] = lower(a[i], a[i + 2]);
    b[i + 1] = upper(a[i], a[i + 2]);
    b[i + 2] = lower(a[i + 1], a[i + 3]);
    b[i + 3] = upper(a[i + 1], a[i + 3]);
  }
}

/// Column i begins at from + i * stride; row k is written to `to(k)`.
template <class To>
HWY_INLINE void transpose(const word* from, int64_t stride, To to) {
  words b[lanes];
#if HWY_CAP_GE512
  ATELIER_UNROLL
  for (int64_t i = 0; i < lanes; ++i)
    b[i] = hw::LoadU(word_tag, from + i * stride);
  transpose_in_blocks(b);
  // Block q of b[4 * i + k] now holds row 4 * q + k of columns from 4 * i on.
  ATELIER_UNROLL
  for (int64_t k = 0; k < 4; ++k) {
    // Highway exchanges neighbouring blocks, and halves of vectors.
    const auto first = hw::ConcatLowerLower(word_tag, b[8 + k], b[k]);
    const auto second = hw::ConcatLowerLower(word_tag, b[12 + k], b[4 + k]);
    const auto third = hw::ConcatUpperUpper(word_tag, b[8 + k], b[k]);
    const auto fourth = hw::ConcatUpperUpper(word_tag, b[12 + k], b[4 + k]);
    put(to(k), hw::OddEvenBlocks(hw::SwapAdjacentBlocks(second), first));
    put(to(4 + k), hw::OddEvenBlocks(second, hw::SwapAdjacentBlocks(first)));
    put(to(8 + k), hw::OddEvenBlocks(hw::SwapAdjacentBlocks(fourth), third));
    put(to(12 + k), hw::OddEvenBlocks(fourth, hw::SwapAdjacentBlocks(third)));
  }
#else
  // Four rows at a time, so that both halves of a row's line are written one
  // after the other.
  constexpr hw::Half<hw::ScalableTag<word>> half_words;
  ATELIER_UNROLL
  for (int64_t row = 0; row < side; row += 4) {
    const auto both = [&](int64_t lower, int64_t upper) {
      return hw::Combine(word_tag,
                         hw::LoadU(half_words, from + upper * stride + row),
                         hw::LoadU(half_words, from + lower * stride + row));
    };
    ATELIER_UNROLL
    for (int64_t i = 0; i < 4; ++i) {
      b[i] = both(i, 4 + i);
      b[4 + i] = both(8 + i, 12 + i);
    }
    transpose_in_blocks(b);
    ATELIER_UNROLL
    for (int64_t k = 0; k < 4; ++k) {
      put(to(row + k), b[k]);
      put(to(row + k) + lanes, b[4 + k]);
    }
  }
#endif
}

/// Packs single numbers: columns from `column` on, channels from `channel` on.
template <class Element>
void pack_rest(const dense_source& from, int64_t column, int64_t columns,
               int64_t channel, int64_t at, Element* to) {
  constexpr int64_t pair = sizeof(Element) == 4 ? 1 : 2;
  const auto* source = static_cast<const Element*>(from.weights);
  for (int64_t p = 0; p < from.pieces; ++p) {
    auto* const piece = to + p * packed_elements(from.channels);
    for (auto j = column; j < columns; ++j)
      for (auto c = channel; c < from.channels; ++c)
        piece[(c / pair * panel_width + at + j) * pair + c % pair] =
          source[j * from.column_stride + p * from.piece_stride
                 + c * from.channel_stride];
  }
}

/// Returns whether the pieces of a channel, and the channels, are contiguous.
inline bool is_dense(const dense_source& from) {
  return from.channel_stride == from.pieces
      && (from.pieces == 1 || from.piece_stride == 1);
}

/// Packs `count` words of each column, one word of each piece after another.
/// Returns how many channels, in words, are done.
inline int64_t pack_words(const word* from, int64_t stride, int64_t columns,
                          int64_t channels, int64_t pieces, word* to) {
  // Packs whole squares that end with a channel.
  const auto done = channels / side * side;
  for (int64_t j = 0; j + side <= columns; j += side) {
    int64_t piece = 0;
    int64_t channel = 0;
    word* rows[side];
    for (int64_t first = 0; first < done * pieces; first += side) {
      ATELIER_UNROLL
      for (int64_t k = 0; k < side; ++k) {
        rows[k] = to + (piece * channels + channel) * panel_width + j;
        if (++piece == pieces) {
          piece = 0;
          ++channel;
        }
      }
      transpose(from + j * stride + first, stride,
                [&rows](int64_t k) { return rows[k]; });
    }
  }
  return done;
}

inline void pack(const dense_source& from, int64_t columns, int64_t at,
                 float* to) {
  if (!is_dense(from))
    return pack_rest(from, 0, columns, 0, at, to);
  const auto done = pack_words(static_cast<const word*>(from.weights),
                               from.column_stride, columns, from.channels,
                               from.pieces, reinterpret_cast<word*>(to) + at);
  pack_rest(from, 0, columns, done, at, to);
  pack_rest(from, columns / side * side, columns, 0, at, to);
}

/// Pairs the channels of `columns` columns, which are interleaved with those of
/// the other pieces, and transposes the pairs. Returns how many channels are
/// done.
inline int64_t pack_pairs(const dense_source& from, int64_t columns, word* to) {
  constexpr int64_t most_pieces = 9;
  constexpr int64_t channels = 2 * side;
  if (from.pieces > most_pieces)
    return 0;
  alignas(64) word pairs[side * most_pieces * side];
  const auto* const source = static_cast<const bfloat16*>(from.weights);
  const auto stride = from.pieces * side;
  const auto done = from.channels / channels * channels;
  for (int64_t j = 0; j + side <= columns; j += side)
    for (int64_t c = 0; c < done; c += channels) {
      for (int64_t i = 0; i < side; ++i) {
        const auto* const first =
          source + (j + i) * from.column_stride + c * from.pieces;
        for (int64_t p = 0; p < from.pieces; ++p)
          for (int64_t k = 0; k < side; ++k)
            pairs[i * stride + p * side + k] =
              first[2 * k * from.pieces + p]
              | static_cast<word>(first[(2 * k + 1) * from.pieces + p]) << 16;
      }
      for (int64_t p = 0; p < from.pieces; ++p)
        transpose(pairs + p * side, stride, [&](int64_t k) {
          return to + (p * from.channels / 2 + c / 2 + k) * panel_width + j;
        });
    }
  return done;
}

inline void pack(const dense_source& from, int64_t columns, int64_t at,
                 bfloat16* to) {
  if (!is_dense(from))
    return pack_rest(from, 0, columns, 0, at, to);
  auto* const to_words = reinterpret_cast<word*>(to) + at;
  int64_t done = 0;
  if (from.pieces == 1 && from.column_stride % 2 == 0)
    done = 2
         * pack_words(static_cast<const word*>(from.weights),
                      from.column_stride / 2, columns, from.channels / 2, 1,
                      to_words);
  else
    done = pack_pairs(from, columns, to_words);
  pack_rest(from, 0, columns, done, at, to);
  pack_rest(from, columns / side * side, columns, 0, at, to);
}

inline void pack_dense(element type, const dense_source& from, int64_t columns,
                       int64_t at, void* to) {
  if (type == element::float32)
    pack(from, columns, at, static_cast<float*>(to));
  else
    pack(from, columns, at, static_cast<bfloat16*>(to));
  // Makes the stores visible to threads that learn of the completion.
  hwy::FlushStream();
}

} // namespace atelier::gpu::host::ATELIER_KERNEL_TARGET
