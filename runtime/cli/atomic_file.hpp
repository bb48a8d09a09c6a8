// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/part_file.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <span>

namespace atelier::runtime::cli {

using core::on_existing;

/// Writes a file whole or not at all: under a temporary name in the same
/// folder, synchronised, then renamed. Missing folders are made. On an error
/// nothing is left behind but such folders.
/// Errors: ec::invalid_argument where the file exists and may not be replaced,
///         ec::io_failed; the text names the path.
core::result<void> write_file(const std::filesystem::path& target,
                              std::span<const uint8_t> bytes, on_existing mode);

/// Checks what can be known before the work about writing `target` later: that
/// its name is free or may be replaced, that it can be, and that its folder (or
/// the nearest one there is) takes a file of one block. Leaves nothing behind.
/// Errors: ec::invalid_argument for what the user named, ec::io_failed for a
///         full disk; the text names the path.
core::result<void> check_writable(const std::filesystem::path& target,
                                  on_existing mode);

/// Checks the name alone, as check_writable does.
core::result<void> check_free(const std::filesystem::path& target,
                              on_existing mode);

} // namespace atelier::runtime::cli
