// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace atelier::ipc {

/// Returns the CRC-32C of `bytes`, continued from `seed`, the CRC of the bytes
/// before them. It is cheap for the small records of rings.
/// Source: RFC 3720, appendix B.4; the SSE 4.2 instruction if available.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t seed = 0);

/// Returns the XXH3 hash of `bytes`. It is as fast as memory, and serves slots.
uint64_t xxh3(std::span<const std::byte> bytes);

} // namespace atelier::ipc
