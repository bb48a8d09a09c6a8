// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace atelier::runtime::http {

/// Files of images that wait for their clients, in a folder that one server
/// owns and locks. Their names are built from the server's own numbers, never
/// from a client's data.
/// Threads: any; they wait for the disk.
class result_files {
public:
  /// Whether a written image survives a loss of power.
  enum class durability : uint8_t { none, synchronised };

  /// Creates the folder, accessible only to its owner, locks it, and removes
  /// the files that a previous server left in it, except images of the jobs
  /// `known`: no client can fetch the others.
  /// Errors: ec::unavailable if another server has it; ec::io_failed; each with
  ///         the path.
  static core::result<std::shared_ptr<const result_files>> open(
    const std::filesystem::path& folder, const std::set<uint64_t>& known = {},
    durability how = durability::none);

  /// Keeps the folder and its files, and releases the lock.
  ~result_files();

  result_files(const result_files&) = delete;
  result_files& operator=(const result_files&) = delete;

  /// Writes an image of a job completely or not at all.
  /// Errors: ec::io_failed.
  core::result<void> put(uint64_t job, uint32_t index,
                         std::span<const uint8_t> bytes) const;

  /// Returns the bytes of an image.
  /// Errors: ec::not_found if it was removed; ec::io_failed.
  core::result<std::vector<uint8_t>> get(uint64_t job, uint32_t index) const;

  /// Returns the size of an image's file in bytes; none if it does not exist.
  std::optional<uint64_t> size(uint64_t job, uint32_t index) const;

  /// Removes an image, if it exists.
  void remove(uint64_t job, uint32_t index) const;

private:
  result_files(std::filesystem::path folder, int lock, durability how);

  std::filesystem::path path_of(uint64_t job, uint32_t index) const;

  const std::filesystem::path folder_;
  /// The folder's descriptor, which holds the lock.
  const int lock_;
  const durability how_;
};

} // namespace atelier::runtime::http
