// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for kernels_*.cpp: see vectors.hpp. The innermost loops of matrix
// products.

#include <atelier/gpu/kernels/detail/vectors.hpp>

#include <utility>

namespace atelier::gpu::host::ATELIER_KERNEL_TARGET {

/// The sums that registers hold: 6 rows by 4 vectors of the 32 registers of
/// AVX-512, or by 2 of the 16 of AVX2.
constexpr int64_t tile_rows = 6;
constexpr int64_t tile_vectors = HWY_CAP_GE512 ? 4 : 2;
constexpr int64_t strip_width = tile_vectors * lanes;

/// A pointer to `Kernel::template tile<Rows, Vectors>` for each size of a tile.
template <class Kernel>
class tile_table {
public:
  using function = decltype(&Kernel::template tile<1, 1>);

  function operator()(int64_t rows, int64_t vectors) const {
    return at_[(rows - 1) * tile_vectors + vectors - 1];
  }

  template <size_t... Place>
  explicit constexpr tile_table(std::index_sequence<Place...>)
    : at_{&Kernel::template tile<Place / wide + 1, Place % wide + 1>...} {}

private:
  static constexpr size_t wide = tile_vectors;

  function at_[tile_rows * tile_vectors];
};

template <class Kernel>
constexpr tile_table<Kernel> tiles{
  std::make_index_sequence<tile_rows * tile_vectors>{}};

constexpr int64_t round_up(int64_t x, int64_t to) {
  return (x + to - 1) / to * to;
}

/// The type in which elements are multiplied: bfloat16 is widened, unless there
/// are instructions for it.
#ifdef __AVX512BF16__
template <class Element>
using factor = Element;
#else
template <class Element>
using factor = float;
#endif

/// Consecutive factors in the sums of one column: bfloat16 come in pairs.
template <class Factor>
constexpr int64_t pair_of = sizeof(Factor) == 4 ? 1 : 2;

inline words load_pairs(const bfloat16* from) {
  return hw::Load(word_tag, reinterpret_cast<const uint32_t*>(from));
}

/// Adds the products of x[row][k] and w[k * stride + ...], k in 0..count, to
/// sums [Rows][Vectors].
template <size_t Rows, size_t Vectors>
inline void add_products(floats (&sum)[Rows][Vectors], const float* const* x,
                         int64_t count, const float* w, int64_t stride) {
  for (int64_t k = 0; k < count; ++k, w += stride) {
    floats y[Vectors];
    ATELIER_UNROLL
    for (size_t j = 0; j < Vectors; ++j)
      y[j] = hw::Load(float_tag, w + j * lane_count);
    ATELIER_UNROLL
    for (size_t i = 0; i < Rows; ++i) {
      const auto a = broadcast(x[i][k]);
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j)
        sum[i][j] = hw::MulAdd(a, y[j], sum[i][j]);
    }
  }
}

#ifdef __AVX512BF16__

/// Adds the same of bfloat16, in pairs of k: w[k * stride + ...] holds those of
/// k and k + 1.
template <size_t Rows, size_t Vectors>
inline void add_products(floats (&sum)[Rows][Vectors], const bfloat16* const* x,
                         int64_t count, const bfloat16* w, int64_t stride) {
  for (int64_t k = 0; k < count; k += 2, w += 2 * stride) {
    words y[Vectors];
    ATELIER_UNROLL
    for (size_t j = 0; j < Vectors; ++j)
      y[j] = load_pairs(w + 2 * j * lane_count);
    ATELIER_UNROLL
    for (size_t i = 0; i < Rows; ++i) {
      uint32_t pair;
      std::memcpy(&pair, x[i] + k, sizeof pair);
      const auto a = hw::Set(word_tag, pair);
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j)
        sum[i][j] = floats{
          _mm512_dpbf16_ps(sum[i][j].raw, (__m512bh)a.raw, (__m512bh)y[j].raw)};
    }
  }
}

#endif

} // namespace atelier::gpu::host::ATELIER_KERNEL_TARGET
