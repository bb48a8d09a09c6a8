// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace atelier::image::detail {

using bytes_view = std::span<const uint8_t>;
using bytes = std::vector<uint8_t>;

inline bytes_view as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline std::string_view as_text(bytes_view x) {
  return {reinterpret_cast<const char*>(x.data()), x.size()};
}

inline bool starts_with(bytes_view x, std::string_view prefix) {
  return as_text(x).starts_with(prefix);
}

/// Returns at most `n` bytes of `x` from `at`; empty if `at` is after the end.
inline bytes_view part(bytes_view x, size_t at, size_t n = SIZE_MAX) {
  at = std::min(at, x.size());
  return x.subspan(at, std::min(n, x.size() - at));
}

inline void append(bytes& to, bytes_view what) {
  // g++ 12 warns falsely about insert (stringop-overflow).
  const size_t at = to.size();
  to.resize(at + what.size());
  std::copy(what.begin(), what.end(), to.data() + at);
}

inline void append_be16(bytes& to, uint32_t x) {
  to.push_back(static_cast<uint8_t>(x >> 8));
  to.push_back(static_cast<uint8_t>(x));
}

inline void append_be32(bytes& to, uint32_t x) {
  append_be16(to, x >> 16);
  append_be16(to, x);
}

inline void append_le32(bytes& to, uint32_t x) {
  for (unsigned shift : {0u, 8u, 16u, 24u})
    to.push_back(static_cast<uint8_t>(x >> shift));
}

/// The following functions read numbers. The caller has checked that the bytes
/// exist.
inline uint32_t be16(bytes_view x) {
  return uint32_t{x[0]} << 8 | x[1];
}

inline uint32_t be32(bytes_view x) {
  return be16(x) << 16 | be16(x.subspan(2));
}

inline uint32_t le16(bytes_view x) {
  return uint32_t{x[1]} << 8 | x[0];
}

inline uint32_t le32(bytes_view x) {
  return le16(x.subspan(2)) << 16 | le16(x);
}

} // namespace atelier::image::detail
