// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace atelier::core {

/// The 32 bytes of a SHA-256 digest.
using sha256_digest = std::array<uint8_t, 32>;

/// Computes one SHA-256 digest of input that arrives in pieces.
/// Threads: one at a time.
class sha256_stream {
public:
  sha256_stream();
  ~sha256_stream();
  sha256_stream(sha256_stream&&) noexcept;
  sha256_stream& operator=(sha256_stream&&) noexcept;

  void update(std::span<const std::byte> bytes);

  /// Returns the digest of all bytes so far and starts a new one.
  sha256_digest finish();

private:
  struct context;
  std::unique_ptr<context> context_;
};

/// Returns the SHA-256 digest of `bytes`.
sha256_digest sha256(std::span<const std::byte> bytes);

/// Returns the SHA-256 digest of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);
std::string sha256_hex(std::string_view text);

/// Returns `digest` as lower-case hexadecimal digits.
std::string to_hex(std::span<const uint8_t> digest);

} // namespace atelier::core
