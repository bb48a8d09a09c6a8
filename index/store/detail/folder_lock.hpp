// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <filesystem>
#include <utility>

namespace atelier::index::detail {

/// Locks a folder against other processes, and against other users of it in
/// this process. The lock ends with the process, however that ends; the file
/// `lock` stays.
class folder_lock {
public:
  /// Errors: ec::unavailable if the folder is locked already: the text names
  ///         the process; ec::io_failed.
  static core::result<folder_lock> take(const std::filesystem::path& folder);

  folder_lock(folder_lock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

  folder_lock& operator=(folder_lock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  ~folder_lock();

private:
  explicit folder_lock(int fd) : fd_(fd) {}

  int fd_ = -1;
};

} // namespace atelier::index::detail
