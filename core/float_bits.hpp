// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace atelier::core {

/// Passes a floating-point number to an inspector as its bits, so that every
/// value is preserved. CAF 0.17's own encoding loses the sign of zero and never
/// finishes writing an infinity (caf/detail/ieee_754.hpp).
template <class Float>
struct float_bits {
  using bits_type = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;

  Float& of;

  explicit float_bits(Float& x) : of(x) {}

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, float_bits& x) {
    // An inspector that prints returns nothing.
    if constexpr (std::is_void_v<typename Inspector::result_type>) {
      f(x.of);
    } else {
      auto bits = std::bit_cast<bits_type>(x.of);
      auto outcome = f(bits);
      x.of = std::bit_cast<Float>(bits);
      return outcome;
    }
  }
};

} // namespace atelier::core
