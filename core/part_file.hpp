// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace atelier::core {

/// What to do with a file that has the wanted name already.
enum class on_existing : uint8_t { refuse, replace };

/// A file under a temporary name in the folder that it is for. It takes its
/// place whole, or goes away. Members return 0, or the system's number of the
/// error, for a text that says what was to be done.
/// Threads: one.
class part_file {
public:
  /// @param rights of the file, less the umask
  explicit part_file(const std::filesystem::path& folder, mode_t rights = 0666);
  ~part_file();

  part_file(const part_file&) = delete;
  part_file& operator=(const part_file&) = delete;

  /// What kept it from being made.
  int open_error() const {
    return fd_ < 0 ? error_ : 0;
  }

  int write_all(std::span<const uint8_t> bytes) const;

  /// Brings what was written through to the disk.
  int synchronise() const;

  /// Gives it its name, in one step. EEXIST where another file has it and is
  /// not to be replaced.
  int put_at(const std::filesystem::path& target, on_existing mode);

  /// Whether a file's name is a temporary one: of whoever was killed before it
  /// went away.
  static bool is_temporary(std::string_view name);

private:
  std::filesystem::path path_;
  int fd_ = -1;
  int error_ = 0;
  bool placed_ = false;
};

/// Makes new names in a folder outlive a loss of power; 0, or the system's
/// number of the error. File systems that cannot are let pass.
int synchronise_folder(const std::filesystem::path& folder);

} // namespace atelier::core
