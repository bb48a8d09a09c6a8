// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

#include <array>
#include <cstdint>

namespace atelier::core {

/// The purpose of random numbers. Streams of different purposes are
/// independent. The values are part of every stream and never change.
enum class purpose : uint8_t {
  noise = 1,
  routing = 2,
  simulation = 3,
  fault = 4,
  sampling = 5,
  test = 6,
  training = 7,
};

using philox_key = std::array<uint32_t, 2>;
using philox_block = std::array<uint32_t, 4>;

/// Returns the four words of Philox4x32-10 for `counter` under `key`.
/// Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC
/// 2011).
philox_block philox4x32(philox_block counter, philox_key key);

/// Draws from the stream of (seed, purpose, request). The streams and all
/// distributions are the same on every platform and in every version.
/// Invariant: after k words drawn, the next is word k of the stream.
/// Threads: one at a time; copies are independent.
class philox {
public:
  using result_type = uint32_t;

  explicit philox(uint64_t seed, purpose why, request_id whose = {});

  /// Continues at word `index` of the stream; `index` is below 2^58.
  void seek(uint64_t index);

  uint32_t next_u32();
  uint64_t next_u64();

  /// Returns a multiple of 2^-53 in [0, 1). Takes two words.
  double uniform();

  /// Returns one of 0..n-1, each equally likely; 0 if `n` is 0. Takes two words
  /// or, rarely, more.
  uint64_t below(uint64_t n);

  /// Returns a value of the standard normal distribution. Takes four words.
  double normal();

  /// Returns a value of the exponential distribution with that mean. Takes two
  /// words.
  double exponential(double mean = 1);

  /// The following members make this a uniform random bit generator of the
  /// standard library. The library's distributions differ between platforms:
  /// prefer the members above.
  static constexpr uint32_t min() {
    return 0;
  }

  static constexpr uint32_t max() {
    return UINT32_MAX;
  }

  uint32_t operator()() {
    return next_u32();
  }

private:
  philox_block block_at(uint64_t index) const;

  philox_key key_;
  uint64_t request_;
  purpose why_;
  uint64_t index_ = 0;
  philox_block block_;
};

} // namespace atelier::core
