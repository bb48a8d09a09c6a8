// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::index {

/// What an encoder did.
struct encoder_counts {
  /// Texts that a network read.
  uint64_t encoded = 0;
  /// Texts whose vectors were still known.
  uint64_t recalled = 0;
  /// Images that a network read.
  uint64_t images = 0;

  friend bool operator==(const encoder_counts&,
                         const encoder_counts&) = default;
};

/// Turns texts into vectors that searches compare by their angle.
/// Threads: any.
class text_encoder {
public:
  virtual ~text_encoder() = default;

  /// Returns the encoder's name. Vectors of two encoders cannot be compared.
  virtual std::string_view name() const = 0;

  /// Returns a text that changes whenever the vectors may change, so that
  /// vectors may be kept under it; empty if they are not worth keeping.
  virtual std::string identity() const;

  /// Returns the number of elements of a vector.
  virtual size_t dimensions() const = 0;

  /// Returns a text's unit vector; all zeros if the text has nothing to
  /// compare.
  /// Errors: those of the encoder's network.
  virtual core::result<std::vector<float>> encode(
    std::string_view text) const = 0;

  /// Returns the vector of a text that belongs to a namespace. An encoder that
  /// remembers vectors does so for each namespace separately.
  /// Errors: as `encode`.
  virtual core::result<std::vector<float>> encode_in(
    std::string_view space, std::string_view text) const;

  /// Returns the vectors of several texts, in their order.
  /// Errors: as `encode`, for all of them.
  virtual core::result<std::vector<std::vector<float>>> encode_all(
    std::span<const std::string_view> texts) const;

  virtual encoder_counts counts() const;
};

/// The vector of a text or an image, if it has one.
struct encoded_vector {
  /// Empty if the encoder failed or there is nothing to compare.
  std::vector<float> vector;
  bool failed = false;
};

/// Encodes a text for a search or an entry under `key`, in the namespace of the
/// key's tenant, and logs a failure.
encoded_vector encoded(const text_encoder& encoder, std::string_view key,
                       std::string_view text);

/// Encodes texts in batches; if one fails, each text of its batch alone. Logs
/// failures.
std::vector<encoded_vector> encoded_all(
  const text_encoder& encoder, std::span<const std::string_view> texts);

/// Returns the encoder "words", which uses vector_of.
std::shared_ptr<const text_encoder> words_encoder();

} // namespace atelier::index
