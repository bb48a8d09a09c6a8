// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace atelier::core {

/// Hands a float to an inspector as its 32 bits, so that every value crosses
/// unchanged: CAF 0.17's own form of a float loses the sign of zero, and
/// writing an infinity that way never ends (caf/detail/ieee_754.hpp).
struct float_bits {
  float& of;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, float_bits& x) {
    // Printing, which gives nothing back.
    if constexpr (std::is_void_v<typename Inspector::result_type>) {
      f(x.of);
    } else {
      auto bits = std::bit_cast<uint32_t>(x.of);
      auto outcome = f(bits);
      x.of = std::bit_cast<float>(bits);
      return outcome;
    }
  }
};

} // namespace atelier::core
