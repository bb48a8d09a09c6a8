// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for kernels_*.cpp, which are compiled for one target each and define
// ATELIER_KERNEL_TARGET as its name. Everything here is in a namespace of that
// name: two sources with different instructions must not share an inline
// function, of which the linker keeps one.
//
// Highway's own dispatch (foreach_target.h) is not used: its targets do not
// include AVX-512 with BF16 in version 1.0.3, and it needs a library beside the
// headers.

// One target at a time, and without what no kernel uses: F16C and the
// instructions for cryptography.
#define HWY_COMPILE_ONLY_STATIC
#define HWY_DISABLE_F16C
#define HWY_DISABLE_PCLMUL_AES
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __clang__
#  define ATELIER_UNROLL _Pragma("unroll")
#else
#  define ATELIER_UNROLL _Pragma("GCC unroll 16")
#endif

namespace atelier::gpu::host::ATELIER_KERNEL_TARGET {

namespace hw = hwy::HWY_NAMESPACE;

using bfloat16 = uint16_t;

constexpr hw::ScalableTag<float> float_tag;
constexpr hw::ScalableTag<int32_t> int_tag;
/// It describes vectors of 32-bit words, such as pairs of bfloat16.
constexpr hw::ScalableTag<uint32_t> word_tag;
/// It describes as many bfloat16 as a vector has floats.
constexpr hw::Rebind<bfloat16, hw::ScalableTag<float>> half_tag;

using floats = hw::Vec<decltype(float_tag)>;
using words = hw::Vec<decltype(word_tag)>;

/// Floats in a vector.
constexpr int64_t lanes = HWY_LANES(float);
/// The same, for tiles, which are counted by size_t as arrays are.
constexpr size_t lane_count = HWY_LANES(float);

/// Whether whole vectors are better loaded and stored without a mask. AVX2 has
/// no masks at all for elements of 16 bits.
constexpr bool slow_masks = HWY_MEM_OPS_MIGHT_FAULT;

/// The first lanes of a vector: all if count >= lanes, none if count <= 0.
struct first_lanes {
  explicit first_lanes(int64_t many)
    : count(many < 0 ? 0 : many),
      mask(hw::FirstN(float_tag, static_cast<size_t>(count))) {}

  int64_t count;
  hw::Mask<decltype(float_tag)> mask;
};

/// Returns a bfloat16's number.
inline float number_of(bfloat16 x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}

inline float number_of(float x) {
  return x;
}

inline floats broadcast(float x) {
  return hw::Set(float_tag, x);
}

inline floats zeros() {
  return hw::Zero(float_tag);
}

inline floats widen(hw::Vec<decltype(half_tag)> x) {
  return hw::BitCast(float_tag, hw::ShiftLeft<16>(hw::PromoteTo(word_tag, x)));
}

/// Rounds to the nearest, ties to even. The instructions for BF16 round what is
/// below the least normal number to 0.
inline hw::Vec<decltype(half_tag)> narrow(floats x) {
#ifdef __AVX512BF16__
  return hw::Vec<decltype(half_tag)>{(__m256i)_mm512_cvtneps_pbh(x.raw)};
#else
  const auto bits = hw::BitCast(word_tag, x);
  const auto odd =
    hw::And(hw::ShiftRight<16>(bits), hw::Set(word_tag, uint32_t{1}));
  const auto rounded =
    hw::Add(hw::Add(bits, hw::Set(word_tag, uint32_t{0x7fff})), odd);
  // The payload of a NaN must not be rounded to that of an infinity.
  const auto quiet = hw::Or(bits, hw::Set(word_tag, uint32_t{0x400000}));
  const auto kept =
    hw::IfThenElse(hw::RebindMask(word_tag, hw::IsNaN(x)), quiet, rounded);
  return hw::DemoteTo(half_tag, hw::BitCast(int_tag, hw::ShiftRight<16>(kept)));
#endif
}

inline floats load(const float* from) {
  return hw::LoadU(float_tag, from);
}

inline floats load(const bfloat16* from) {
  return widen(hw::LoadU(half_tag, from));
}

/// Loads the first lanes, and zeros; reads nothing else.
inline floats load(const float* from, const first_lanes& some) {
  if (slow_masks && some.count >= lanes)
    return load(from);
  return hw::MaskedLoad(some.mask, float_tag, from);
}

inline floats load(const bfloat16* from, const first_lanes& some) {
#if HWY_MEM_OPS_MIGHT_FAULT
  if (some.count >= lanes)
    return load(from);
  HWY_ALIGN bfloat16 room[lanes] = {};
  std::memcpy(room, from, static_cast<size_t>(some.count) * sizeof(bfloat16));
  return load(room);
#else
  return widen(hw::MaskedLoad(
    hw::FirstN(half_tag, static_cast<size_t>(some.count)), half_tag, from));
#endif
}

inline void store(float* to, floats x) {
  hw::StoreU(x, float_tag, to);
}

inline void store(bfloat16* to, floats x) {
  hw::StoreU(narrow(x), half_tag, to);
}

/// Stores the first lanes; writes nothing else.
inline void store(float* to, const first_lanes& some, floats x) {
  if (slow_masks && some.count >= lanes) {
    store(to, x);
    return;
  }
  hw::BlendedStore(x, some.mask, float_tag, to);
}

inline void store(bfloat16* to, const first_lanes& some, floats x) {
#if HWY_MEM_OPS_MIGHT_FAULT
  if (some.count >= lanes) {
    store(to, x);
    return;
  }
  HWY_ALIGN bfloat16 room[lanes];
  store(room, x);
  std::memcpy(to, room, static_cast<size_t>(some.count) * sizeof(bfloat16));
#else
  hw::BlendedStore(narrow(x),
                   hw::FirstN(half_tag, static_cast<size_t>(some.count)),
                   half_tag, to);
#endif
}

} // namespace atelier::gpu::host::ATELIER_KERNEL_TARGET
