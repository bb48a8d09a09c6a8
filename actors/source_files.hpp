// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace atelier::actors {

/// Opens the bytes by which a request's source files reach a preprocess worker:
/// the image's file follows, then the mask's.
struct source_files_head {
  static constexpr uint32_t magic_value = 0x31465341; // "ASF1"

  uint32_t magic = magic_value;
  uint32_t image_bytes = 0;
  /// 0: there is no mask.
  uint32_t mask_bytes = 0;
};

static_assert(sizeof(source_files_head) == 12);

/// The files inside the bytes that hold them.
struct source_files {
  std::span<const uint8_t> image;
  /// Empty where there is no mask.
  std::span<const uint8_t> mask;
};

/// Fewest image slots with which a request that brings files can run: files
/// and source while it is prepared, and one that whoever is further along can
/// go on with.
inline constexpr uint32_t image_slots_for_source = 3;

/// Returns the bytes that the files need.
uint64_t source_files_bytes(const core::source_images& x);

/// Writes the files to the begin of `into`.
/// Errors: ec::out_of_resources where they do not fit.
core::result<void> write_source_files(std::span<std::byte> into,
                                      const core::source_images& x);

/// Finds the files again.
/// Errors: ec::bad_payload.
core::result<source_files> parse_source_files(std::span<const std::byte> from);

} // namespace atelier::actors
