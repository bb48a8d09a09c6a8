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
/// source stays. Where the kept sides are not 0, pixels and mask of that size
/// follow: the source in the size of the scaled image, for an edit.
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

/// What an edit keeps, in the size of its image.
/// Shape: [height, width, 3] and [height, width], each of the mask 0 or 255.
struct kept_parts {
  core::extent px;
  std::span<const uint8_t> pixels;
  std::span<const uint8_t> mask;
};

/// A source's parts inside the bytes that hold it.
struct source_parts {
  core::extent px;
  /// Shape: [height, width, 3].
  std::span<const uint8_t> pixels;
  /// Shape: [height, width], each 0 or 255; empty where there is no mask.
  std::span<const uint8_t> mask;
  /// Empty where the image is not scaled.
  kept_parts kept;
};

/// Where the parts of a source go.
struct source_buffers {
  std::span<uint8_t> pixels;
  std::span<uint8_t> mask;
  std::span<uint8_t> kept_pixels;
  std::span<uint8_t> kept_mask;
};

/// Returns the bytes that a source needs; `kept` is empty where nothing of
/// another size is kept.
uint64_t source_bytes(core::extent px, bool masked, core::extent kept = {});

/// Writes the head into `into` and returns where the parts go.
/// @pre nothing is kept without a mask
/// Errors: ec::out_of_resources where the source does not fit.
core::result<source_buffers> begin_source(std::span<std::byte> into,
                                          core::extent px, bool masked,
                                          core::extent kept = {});

/// Returns the bytes that a drawn image of `px` takes in its slot, with what is
/// kept for an image of `kept`: pixels, then those kept, then their mask.
uint64_t drawn_bytes(core::extent px, core::extent kept = {});

/// Finds what is kept beside a drawn image that is scaled to `scaled_to`; empty
/// where it is an image alone.
/// Errors: ec::bad_payload.
core::result<kept_parts> parse_kept(std::span<const std::byte> drawn,
                                    core::extent px, core::extent scaled_to);

/// Finds the parts of a published source.
/// Errors: ec::bad_payload; the text names the part.
core::result<source_parts> parse_source(std::span<const std::byte> from);

} // namespace atelier::gpu
