// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/core/philox.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace atelier::image::test {

/// Returns a smooth image, which lossy formats keep well.
inline bitmap smooth(core::extent px, uint32_t channels = 3) {
  bitmap result{px, channels, {}};
  for (uint32_t y = 0; y < px.height; ++y)
    for (uint32_t x = 0; x < px.width; ++x)
      for (uint32_t c = 0; c < channels; ++c)
        result.bytes.push_back(static_cast<uint8_t>(
          128 + 100 * std::sin(0.05 * (x + (c + 1) * y) + c)));
  return result;
}

/// Returns an image of random bytes, which no format compresses.
inline bitmap noise(core::extent px, uint32_t channels, core::philox& random) {
  bitmap result{px, channels, {}};
  result.bytes.resize(bytes_of(px, channels));
  for (auto& byte : result.bytes)
    byte = static_cast<uint8_t>(random.next_u32());
  return result;
}

/// Returns the peak signal-to-noise ratio of two images of one form in dB.
inline double psnr(const bitmap& a, const bitmap& b) {
  double squares = 0;
  for (size_t i = 0; i < a.bytes.size(); ++i)
    squares += std::pow(a.bytes[i] - b.bytes[i], 2);
  return 10
       * std::log10(255.0 * 255.0 * static_cast<double>(a.bytes.size())
                    / std::max(squares, 1e-9));
}

} // namespace atelier::image::test
