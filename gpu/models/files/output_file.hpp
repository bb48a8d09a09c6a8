// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/part_file.hpp>
#include <atelier/core/result.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace atelier::gpu::detail {

/// A file that appears under its name only when it is complete. Until `finish`,
/// it has a temporary name beside the target and is removed with this object.
class output_file {
public:
  /// Errors, of all members: ec::io_failed; the text names the target.
  static core::result<output_file> create(const std::filesystem::path& target);

  core::result<void> write(std::span<const std::byte> bytes);

  /// Syncs the file to disk and renames it, replacing any previous file.
  core::result<void> finish();

private:
  output_file() = default;

  core::error failed(int code) const;

  std::filesystem::path target_;
  std::unique_ptr<core::part_file> part_;
};

/// Syncs a folder, so that its names survive a power failure.
/// Errors: ec::io_failed.
core::result<void> synchronise_folder(const std::filesystem::path& folder);

} // namespace atelier::gpu::detail
