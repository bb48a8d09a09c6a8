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

/// The payloads of entries, one file for each entry, named by the entry's
/// number in 256 folders. A file appears whole or not at all, and only its
/// owner can read it. Its size never changes, and neither do its bytes until
/// they are freed. Threads: any, for different entries.
class payload_files {
public:
  explicit payload_files(std::filesystem::path folder);

  std::filesystem::path path_of(uint64_t entry) const;

  /// Writes the parts one after the other, and waits until they are on the
  /// disk.
  /// Errors: ec::io_failed.
  core::result<void> write(
    uint64_t entry, std::span<const std::span<const std::byte>> parts) const;

  /// Reads that many bytes of an entry's file, from `offset`.
  /// Errors: ec::not_found if the file is missing; ec::bad_payload if it ends
  ///         too early; ec::io_failed.
  core::result<std::vector<std::byte>> read(uint64_t entry, uint64_t offset,
                                            uint64_t bytes) const;

  /// Removes an entry's file. A missing file is no error.
  /// Errors: ec::io_failed.
  core::result<void> remove(uint64_t entry) const;

  /// Frees that many bytes of an entry's file, from `offset`; from then on they
  /// are zeros. The blocks of the file system that they fill are free.
  /// Errors: ec::io_failed; also if the file system cannot free parts of files.
  core::result<void> free(uint64_t entry, uint64_t offset,
                          uint64_t bytes) const;

  struct listing {
    /// The size of each entry's file, in bytes.
    std::map<uint64_t, uint64_t> sizes;
    /// Files that a killed process was writing.
    std::vector<std::filesystem::path> unfinished;
  };

  /// Returns the existing files. Ignores files with other names.
  /// Errors: ec::io_failed.
  core::result<listing> list() const;

  /// Removes listed files.
  /// Errors: ec::io_failed; then some of them are left.
  core::result<void> remove(const listing& all) const;

private:
  std::filesystem::path folder_;
};

} // namespace atelier::index::detail
