// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/checksum.hpp>

#include <array>
#include <cstring>

#if defined(__x86_64__)
// xxHash chooses AVX-512, AVX2 or SSE2 at run time.
#  include <nmmintrin.h>
#  include <xxh_x86dispatch.h>
#else
#  include <xxhash.h>
#endif

namespace atelier::ipc {

namespace {

// The table covers single bytes; it is reflected, for the polynomial
// 0x1EDC6F41.
constexpr std::array<uint32_t, 256> table = [] {
  std::array<uint32_t, 256> xs = {};
  for (uint32_t i = 0; i < xs.size(); ++i) {
    auto x = i;
    for (int bit = 0; bit < 8; ++bit)
      x = (x >> 1) ^ ((x & 1) != 0 ? 0x82F63B78u : 0u);
    xs[i] = x;
  }
  return xs;
}();

uint32_t crc32c_portable(std::span<const std::byte> bytes, uint32_t crc) {
  for (auto x : bytes)
    crc = (crc >> 8) ^ table[(crc ^ std::to_integer<uint32_t>(x)) & 0xFF];
  return crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) uint32_t crc32c_sse42(
  std::span<const std::byte> bytes, uint32_t crc) {
  uint64_t wide = crc;
  auto words = bytes.size() / sizeof(uint64_t);
  for (size_t i = 0; i < words; ++i) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
    wide = _mm_crc32_u64(wide, word);
  }
  return crc32c_portable(bytes.subspan(words * sizeof(uint64_t)),
                         static_cast<uint32_t>(wide));
}

#endif

} // namespace

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t seed) {
#if defined(__x86_64__)
  static const bool has_sse42 = __builtin_cpu_supports("sse4.2") != 0;
  if (has_sse42)
    return ~crc32c_sse42(bytes, ~seed);
#endif
  return ~crc32c_portable(bytes, ~seed);
}

uint64_t xxh3(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

} // namespace atelier::ipc
