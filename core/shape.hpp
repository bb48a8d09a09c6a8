// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace atelier::core {

/// The element type of a tensor.
enum class dtype : uint8_t { float32, float16, bfloat16 };

/// Returns the name of `x` that configuration and file names use.
constexpr std::string_view to_string(dtype x) {
  switch (x) {
    case dtype::float32:
      return "float32";
    case dtype::float16:
      return "float16";
    case dtype::bfloat16:
      return "bfloat16";
  }
  return "unknown";
}

/// Returns the size of one element of type `x` in bytes.
constexpr size_t bytes_of(dtype x) {
  return x == dtype::float32 ? 4 : 2;
}

/// The size of an image in pixels.
struct extent {
  uint32_t width = 0;
  uint32_t height = 0;

  constexpr uint64_t pixels() const {
    return uint64_t{width} * height;
  }

  friend constexpr auto operator<=>(const extent&, const extent&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, extent& x) {
    return f(x.width, x.height);
  }
};

/// The shape of one latent. The axis order everywhere in Atelier is [batch,
/// channels, height, width], batch slowest, width fastest (PyTorch's contiguous
/// NCHW). Pixels of images are [height, width, channels], rows from the top,
/// channels R, G, B.
struct latent_shape {
  uint32_t channels = 0;
  uint32_t height = 0;
  uint32_t width = 0;

  constexpr size_t elements() const {
    return size_t{channels} * height * width;
  }

  friend constexpr auto operator<=>(const latent_shape&,
                                    const latent_shape&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f,
                                                 latent_shape& x) {
    return f(x.channels, x.height, x.width);
  }
};

} // namespace atelier::core
