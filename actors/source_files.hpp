// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace atelier::actors {

/// Header of the bytes by which a request's source files reach a preprocess
/// worker. The image's file follows, then the mask's.
struct source_files_head {
  static constexpr uint32_t magic_value = 0x31465341; // "ASF1"

  uint32_t magic = magic_value;
  uint32_t image_bytes = 0;
  /// 0: no mask.
  uint32_t mask_bytes = 0;
};

static_assert(sizeof(source_files_head) == 12);

/// The files inside the bytes that hold them.
struct source_files {
  std::span<const uint8_t> image;
  /// Empty if the request has no mask.
  std::span<const uint8_t> mask;
};

/// Minimum number of image slots with which a request that brings files can
/// run: one for the files, one for the source while it is prepared, and one
/// with which requests that are further along can continue.
inline constexpr uint32_t image_slots_for_source = 3;

/// Returns the number of bytes that the files need.
uint64_t source_files_bytes(const core::source_images& x);

/// Writes the files to the beginning of `into`.
/// Errors: ec::out_of_resources if they do not fit.
core::result<void> write_source_files(std::span<std::byte> into,
                                      const core::source_images& x);

/// Finds the files in bytes that `write_source_files` wrote.
/// Errors: ec::bad_payload.
core::result<source_files> parse_source_files(std::span<const std::byte> from);

} // namespace atelier::actors
