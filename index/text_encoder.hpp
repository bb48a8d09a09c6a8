// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace atelier::index {

/// Turns texts into vectors that searches compare by their angle.
/// Threads: any.
class text_encoder {
public:
  virtual ~text_encoder() = default;

  /// Returns the encoder's name. Vectors of two encoders cannot be compared.
  virtual std::string_view name() const = 0;

  /// Returns the number of elements of a vector.
  virtual size_t dimensions() const = 0;

  /// Returns a text's unit vector; all zeros if the text has nothing to
  /// compare.
  /// Errors: those of the encoder's network.
  virtual core::result<std::vector<float>> encode(
    std::string_view text) const = 0;
};

/// A text's vector, if it has one.
struct encoded_text {
  /// Empty if the encoder failed or the text has nothing to compare.
  std::vector<float> vector;
  bool failed = false;
};

/// Encodes a text, and logs a failure.
encoded_text encoded(const text_encoder& encoder, std::string_view text);

/// Returns the encoder "words", which uses vector_of.
std::shared_ptr<const text_encoder> words_encoder();

} // namespace atelier::index
