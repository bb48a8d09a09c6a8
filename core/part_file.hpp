// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace atelier::core {

/// The action if another file already has the target name.
enum class on_existing : uint8_t { refuse, replace };

/// A file under a temporary name in its target folder. It is renamed as a whole
/// or removed. Members return 0 or the system's error number, for a text that
/// names the failed operation.
/// Threads: one.
class part_file {
public:
  /// @param rights the file's permissions before the umask
  explicit part_file(const std::filesystem::path& folder, mode_t rights = 0666);
  ~part_file();

  part_file(const part_file&) = delete;
  part_file& operator=(const part_file&) = delete;

  /// Returns the error that prevented the file from being created, or 0.
  int open_error() const {
    return fd_ < 0 ? error_ : 0;
  }

  int write_all(std::span<const uint8_t> bytes) const;

  /// Flushes the written bytes to the disk.
  int synchronise() const;

  /// Renames the file to `target` in one step. Returns EEXIST if another file
  /// has the name and must not be replaced.
  int put_at(const std::filesystem::path& target, on_existing mode);

  /// Returns whether a file name is a temporary one, which a killed process may
  /// have left.
  static bool is_temporary(std::string_view name);

private:
  std::filesystem::path path_;
  int fd_ = -1;
  int error_ = 0;
  bool placed_ = false;
};

/// Makes new names in a folder survive a power loss. Returns 0 or the system's
/// error number. Returns 0 for file systems that cannot do this.
int synchronise_folder(const std::filesystem::path& folder);

} // namespace atelier::core
