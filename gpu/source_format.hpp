// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace atelier::gpu {

/// The header of a published source, the start of an image-to-image run or an
/// edit. RGB8 pixels [height, width, 3] follow it, and if `masked` is 1, the
/// mask [height, width]: 255 where the image is repainted, 0 where the source
/// is kept. If the kept sides are not 0, pixels and a mask of that size follow:
/// the source in the size of the scaled image, for an edit.
struct source_head {
  static constexpr uint32_t magic_value = 0x32525341; // "ASR2"

  uint32_t magic = magic_value;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t masked = 0;
  uint32_t kept_width = 0;
  uint32_t kept_height = 0;
};

static_assert(sizeof(source_head) == 24);

/// The kept parts of an edit, in the size of its image.
/// Shape: [height, width, 3] and [height, width]; each mask value is 0 or 255.
struct kept_parts {
  core::extent px;
  std::span<const uint8_t> pixels;
  std::span<const uint8_t> mask;
};

/// A source's parts, as views of the bytes that hold it.
struct source_parts {
  core::extent px;
  /// Shape: [height, width, 3].
  std::span<const uint8_t> pixels;
  /// Shape: [height, width], each value 0 or 255; empty without a mask.
  std::span<const uint8_t> mask;
  /// Empty if the image is not scaled.
  kept_parts kept;
};

/// The destinations of a source's parts.
struct source_buffers {
  std::span<uint8_t> pixels;
  std::span<uint8_t> mask;
  std::span<uint8_t> kept_pixels;
  std::span<uint8_t> kept_mask;
};

/// Returns the size of a source in bytes. `kept` is empty if the source has no
/// kept parts of another size.
uint64_t source_bytes(core::extent px, bool masked, core::extent kept = {});

/// Writes the header into `into` and returns the destinations of the parts.
/// @pre `kept` is empty if `masked` is false
/// Errors: ec::out_of_resources if the source does not fit.
core::result<source_buffers> begin_source(std::span<std::byte> into,
                                          core::extent px, bool masked,
                                          core::extent kept = {});

/// Returns the bytes that a drawn image of `px` takes in its slot, including
/// the kept parts for an image of `kept`: pixels, then the kept pixels, then
/// their mask.
uint64_t drawn_bytes(core::extent px, core::extent kept = {});

/// Returns the parts kept beside a drawn image that is scaled to `scaled_to`;
/// they are empty if the slot holds only an image.
/// Errors: ec::bad_payload.
core::result<kept_parts> parse_kept(std::span<const std::byte> drawn,
                                    core::extent px, core::extent scaled_to);

/// Returns the parts of a published source.
/// Errors: ec::bad_payload; the text names the part.
core::result<source_parts> parse_source(std::span<const std::byte> from);

} // namespace atelier::gpu
