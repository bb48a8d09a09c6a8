// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/index/text_encoder.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace atelier::index {

/// Turns images into vectors that searches compare with those of a text
/// encoder: both have the same number of elements, and the smaller the angle
/// between them, the better the text describes the image.
/// Threads: any.
class image_encoder {
public:
  virtual ~image_encoder() = default;

  /// Returns a text that changes whenever the vectors may change, as
  /// text_encoder::identity. It differs from that of the text encoder.
  virtual std::string identity() const;

  /// Returns the number of elements of a vector.
  virtual size_t dimensions() const = 0;

  /// Returns an image's unit vector.
  /// @param rgb [height, width, 3], 8 bits each
  /// Errors: those of the encoder's network.
  virtual core::result<std::vector<float>> encode(
    std::span<const std::byte> rgb, core::extent px) const = 0;

  /// Returns the number of images that a network read.
  virtual uint64_t encoded() const;
};

/// Encodes an entry's image, and logs a failure. There is no vector if there is
/// no image. A vector with which nothing can be compared is a failure.
encoded_vector encoded(const image_encoder& encoder,
                       std::span<const std::byte> rgb, core::extent px);

} // namespace atelier::index
