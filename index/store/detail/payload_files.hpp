// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <vector>

namespace atelier::index::detail {

/// The payloads of entries, one file each, named by the entry's number in 256
/// folders. A file appears whole or not at all, readable by its owner alone,
/// and never changes.
/// Threads: any, for different entries.
class payload_files {
public:
  explicit payload_files(std::filesystem::path folder);

  std::filesystem::path path_of(uint64_t entry) const;

  /// Writes the parts one after the other, and waits until they are on the
  /// disk.
  /// Errors: ec::io_failed.
  core::result<void> write(
    uint64_t entry, std::span<const std::span<const std::byte>> parts) const;

  /// Reads so many bytes of an entry's file, from `offset`.
  /// Errors: ec::not_found where there is no file; ec::bad_payload where it
  ///         ends too early; ec::io_failed.
  core::result<std::vector<std::byte>> read(uint64_t entry, uint64_t offset,
                                            uint64_t bytes) const;

  /// Removes an entry's file; it is no fault if there is none.
  /// Errors: ec::io_failed.
  core::result<void> remove(uint64_t entry) const;

  struct listing {
    /// The size of each entry's file.
    std::map<uint64_t, uint64_t> sizes;
    /// What a process that was killed was writing.
    std::vector<std::filesystem::path> unfinished;
  };

  /// Returns what there is. Files of other names are not looked at.
  /// Errors: ec::io_failed.
  core::result<listing> list() const;

private:
  std::filesystem::path folder_;
};

/// Makes a folder that only its owner may look into, where there is none.
/// Errors: ec::io_failed.
core::result<void> make_private_folder(const std::filesystem::path& folder);

} // namespace atelier::index::detail
