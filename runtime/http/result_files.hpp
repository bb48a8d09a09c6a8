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

/// Files of pictures that wait for their clients, in a folder of one server,
/// locked by it. Names come from the server's own numbers, never from a client.
/// Threads: any; they wait for the disk.
class result_files {
public:
  /// Whether a picture that was put outlives a loss of power.
  enum class durability : uint8_t { none, synchronised };

  /// Makes the folder, its owner's alone, locks it, and removes what a server
  /// before left in it, but pictures of the jobs `known`: nobody knows the
  /// other ones any more. Errors: ec::unavailable where another server has it;
  /// ec::io_failed; with
  ///         the path.
  static core::result<std::shared_ptr<const result_files>> open(
    const std::filesystem::path& folder, const std::set<uint64_t>& known = {},
    durability how = durability::none);

  /// Leaves the folder and its files, and lets go of the lock.
  ~result_files();

  result_files(const result_files&) = delete;
  result_files& operator=(const result_files&) = delete;

  /// Writes a picture of a job, whole or not at all.
  /// Errors: ec::io_failed.
  core::result<void> put(uint64_t job, uint32_t index,
                         std::span<const uint8_t> bytes) const;

  /// Errors: ec::not_found where it was removed, ec::io_failed.
  core::result<std::vector<uint8_t>> get(uint64_t job, uint32_t index) const;

  /// Returns the bytes of a picture's file; none where it is not there.
  std::optional<uint64_t> size(uint64_t job, uint32_t index) const;

  /// Removes a picture, where it is there.
  void remove(uint64_t job, uint32_t index) const;

private:
  result_files(std::filesystem::path folder, int lock, durability how);

  std::filesystem::path path_of(uint64_t job, uint32_t index) const;

  const std::filesystem::path folder_;
  /// The folder's descriptor: the lock is its.
  const int lock_;
  const durability how_;
};

} // namespace atelier::runtime::http
