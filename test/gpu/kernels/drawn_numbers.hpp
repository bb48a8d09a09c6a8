// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/kernels/guarded_array.hpp"
#include <atelier/gpu/kernels/host_dense.hpp>

#include <boost/test/unit_test.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace atelier::test {

/// The bits of a bfloat16.
using bfloat16 = uint16_t;

inline float number_of(float x) {
  return x;
}

inline float number_of(bfloat16 x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x) << 16);
}

template <class Element>
gpu::host::element element_of() {
  return sizeof(Element) == 4 ? gpu::host::element::float32
                              : gpu::host::element::bfloat16;
}

/// Returns the element that is nearest below `x`.
template <class Element>
Element element_near(float x) {
  if constexpr (sizeof(Element) == 4)
    return x;
  else
    return static_cast<Element>(std::bit_cast<uint32_t>(x) >> 16);
}

/// Draws numbers that bfloat16 holds exactly, so that sums of their products
/// are exact in float32.
class drawing {
public:
  explicit drawing(uint64_t seed) : random_(seed) {}

  /// Returns a number of low..high.
  int64_t within(int64_t low, int64_t high) {
    return low
         + static_cast<int64_t>(random_()
                                % static_cast<uint64_t>(high - low + 1));
  }

  bool coin() {
    return within(0, 1) == 1;
  }

  float number() {
    return static_cast<float>(within(-16, 16)) / 16;
  }

  /// Fills with numbers times `reach`, which must be a power of two.
  template <class Element>
  void fill(const guarded_array<Element>& to, float reach = 1) {
    for (int64_t i = 0; i < to.size(); ++i)
      to[i] = element_near<Element>(number() * reach);
  }

  /// Fills with numbers of -1..1 whose sums depend on their order.
  template <class Element>
  void fill_roughly(const guarded_array<Element>& to) {
    for (int64_t i = 0; i < to.size(); ++i)
      to[i] =
        element_near<Element>(static_cast<float>(within(-9999, 9999)) / 9999);
  }

private:
  std::mt19937_64 random_;
};

/// Returns whether a result is as near to the exact one as its type allows.
template <class Element>
bool is_near(Element result, double exact, double error = 1e-5) {
  const auto room = sizeof(Element) == 4 ? error : 0x1p-7;
  return std::abs(static_cast<double>(number_of(result)) - exact)
      <= room * (1 + std::abs(exact));
}

} // namespace atelier::test
