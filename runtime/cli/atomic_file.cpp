// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/atomic_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace atelier::runtime::cli {

namespace {

namespace fs = std::filesystem;
using core::ec;
using core::fail;

std::string message_of(int error) {
  return std::generic_category().message(error);
}

core::error io_error(std::string_view what, const fs::path& path, int error) {
  return fail(ec::io_failed, "cannot {} {}: {}", what, path.string(),
              message_of(error));
}

core::error exists_error(const fs::path& path) {
  return fail(ec::invalid_argument,
              "-o: {} exists already; --force replaces it", path.string());
}

fs::path folder_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path{"."};
}

/// A file under a temporary name that goes away unless it is renamed.
class temporary_file {
public:
  explicit temporary_file(const fs::path& folder) {
    static std::atomic<uint64_t> made = 0;
    // The pid alone can be another machine's, on a shared file system.
    for (int attempt = 0; attempt < 100; ++attempt) {
      path_ = folder
            / fmt::format(".atelier-{}-{}.part", getpid(), made.fetch_add(1));
      fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      error_ = errno;
      if (fd_ >= 0 || error_ != EEXIST)
        return;
    }
  }

  ~temporary_file() {
    if (fd_ < 0)
      return;
    close(fd_);
    if (!renamed_)
      unlink(path_.c_str());
  }

  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  /// Returns 0, or the error that kept the file from being made.
  int open_error() const {
    return fd_ < 0 ? error_ : 0;
  }

  int write_all(std::span<const uint8_t> bytes) const {
    while (!bytes.empty()) {
      const auto n = write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno != EINTR)
        return errno;
      if (n > 0)
        bytes = bytes.subspan(static_cast<size_t>(n));
    }
    return fsync(fd_) == 0 ? 0 : errno;
  }

  int rename_to(const fs::path& target, on_existing mode) {
    const int error =
      mode == on_existing::replace ? replace(target) : take_free_name(target);
    renamed_ = error == 0;
    return error;
  }

private:
  int replace(const fs::path& target) const {
    return rename(path_.c_str(), target.c_str()) == 0 ? 0 : errno;
  }

  int take_free_name(const fs::path& target) const {
    if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(),
                  RENAME_NOREPLACE)
        == 0)
      return 0;
    if (errno != EINVAL && errno != ENOSYS)
      return errno;
    // File systems without the flag have links, which never replace either.
    if (link(path_.c_str(), target.c_str()) != 0)
      return errno;
    unlink(path_.c_str());
    return 0;
  }

  fs::path path_;
  int fd_ = -1;
  int error_ = 0;
  bool renamed_ = false;
};

/// Makes the new name last through a loss of power.
int synchronise(const fs::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return errno;
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  // Some file systems cannot synchronise folders.
  return error == EINVAL || error == EROFS ? 0 : error;
}

/// Returns the file that a symbolic link stands for, so that replacing writes
/// there.
fs::path resolved(const fs::path& target) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(target, error)))
    return target;
  auto real = fs::weakly_canonical(target, error);
  return error ? target : real;
}

fs::path nearest_existing(fs::path folder) {
  std::error_code error;
  while (folder.has_relative_path() && !fs::exists(folder, error)) {
    folder = folder.parent_path();
    if (folder.empty())
      return ".";
  }
  return folder;
}

} // namespace

core::result<void> write_file(const fs::path& target,
                              std::span<const uint8_t> bytes,
                              on_existing mode) {
  const auto real = resolved(target);
  const auto folder = folder_of(real);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return io_error("make the folder", folder, error.value());
  temporary_file file{folder};
  if (const int e = file.open_error())
    return io_error("write into", folder, e);
  if (const int e = file.write_all(bytes))
    return io_error("write", target, e);
  if (const int e = file.rename_to(real, mode)) {
    if (e == EEXIST)
      return exists_error(target);
    return io_error("write", target, e);
  }
  if (const int e = synchronise(folder))
    return io_error("synchronise the folder", folder, e);
  return {};
}

core::result<void> check_free(const fs::path& target, on_existing mode) {
  struct stat found {};

  if (lstat(target.c_str(), &found) != 0) {
    if (errno == ENOENT)
      return {};
    return fail(ec::invalid_argument, "-o: {} cannot be written: {}",
                target.string(), message_of(errno));
  }
  if (mode == on_existing::refuse)
    return exists_error(target);
  // The target of a dangling link is made.
  if (S_ISLNK(found.st_mode) && stat(target.c_str(), &found) != 0)
    return {};
  if (!S_ISREG(found.st_mode))
    return fail(ec::invalid_argument, "-o: {} is not a regular file",
                target.string());
  return {};
}

core::result<void> check_writable(const fs::path& target, on_existing mode) {
  if (auto free = check_free(target, mode); !free)
    return free;
  const auto folder = nearest_existing(folder_of(resolved(target)));
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return fail(ec::invalid_argument, "-o: {} is not a folder",
                folder.string());
  const temporary_file probe{folder};
  if (const int e = probe.open_error()) {
    if (e == ENOSPC || e == EDQUOT)
      return io_error("write into", folder, e);
    return fail(ec::invalid_argument, "-o: cannot write into {}: {}",
                folder.string(), message_of(e));
  }
  constexpr std::array<uint8_t, 4096> block{};
  if (const int e = probe.write_all(block))
    return io_error("write into", folder, e);
  return {};
}

} // namespace atelier::runtime::cli
