// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace atelier::gpu {

/// Opens the bytes of a published source: what an image-to-image run or an edit
/// starts from. RGB8 pixels [height, width, 3] follow, and where `masked` is 1,
/// the mask [height, width]: 255 where the picture is repainted, 0 where the
/// source stays.
struct source_head {
  static constexpr uint32_t magic_value = 0x31525341; // "ASR1"

  uint32_t magic = magic_value;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t masked = 0;
};

static_assert(sizeof(source_head) == 16);

/// A source's parts inside the bytes that hold it.
struct source_parts {
  core::extent px;
  /// Shape: [height, width, 3].
  std::span<const uint8_t> pixels;
  /// Shape: [height, width], each 0 or 255; empty where there is no mask.
  std::span<const uint8_t> mask;
};

/// Where the parts of a source go.
struct source_buffers {
  std::span<uint8_t> pixels;
  std::span<uint8_t> mask;
};

/// Returns the bytes that a source needs.
uint64_t source_bytes(core::extent px, bool masked);

/// Writes the head into `into` and returns where the parts go.
/// Errors: ec::out_of_resources where the source does not fit.
core::result<source_buffers> begin_source(std::span<std::byte> into,
                                          core::extent px, bool masked);

/// Finds the parts of a published source.
/// Errors: ec::bad_payload; the text names the part.
core::result<source_parts> parse_source(std::span<const std::byte> from);

} // namespace atelier::gpu
