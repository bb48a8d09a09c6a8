// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/kernels/guarded_array.hpp"
#include <atelier/gpu/kernels/host_dense.hpp>
#include <atelier/gpu/kernels/host_features.hpp>

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

  template <class Element>
  void fill(const guarded_array<Element>& to) {
    for (int64_t i = 0; i < to.size(); ++i)
      if constexpr (sizeof(Element) == 4)
        to[i] = number();
      else
        to[i] = static_cast<Element>(std::bit_cast<uint32_t>(number()) >> 16);
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

/// Returns whether this processor runs the kernels; says so if it does not.
inline bool runs_kernels() {
  const bool runs = gpu::host::runs_float32() && gpu::host::runs_bfloat16();
  if (!runs)
    BOOST_TEST_MESSAGE("skipped: this processor has no AVX-512");
  BOOST_TEST(true);
  return runs;
}

} // namespace atelier::test
