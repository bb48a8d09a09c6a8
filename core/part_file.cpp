// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/part_file.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

namespace atelier::core {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view beginning = ".atelier-";
constexpr std::string_view ending = ".part";

int take_free_name(const fs::path& from, const fs::path& target) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, target.c_str(),
                RENAME_NOREPLACE)
      == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return errno;
  // File systems without the flag have links, which never replace a file
  // either.
  if (link(from.c_str(), target.c_str()) != 0)
    return errno;
  unlink(from.c_str());
  return 0;
}

} // namespace

part_file::part_file(const fs::path& folder, mode_t rights) {
  static std::atomic<uint64_t> made = 0;
  // On a shared file system, another machine may use the same pid.
  for (int attempt = 0; attempt < 100; ++attempt) {
    path_ = folder
          / fmt::format("{}{}-{}{}", beginning, getpid(), made.fetch_add(1),
                        ending);
    fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, rights);
    error_ = errno;
    if (fd_ >= 0 || error_ != EEXIST)
      return;
  }
}

part_file::~part_file() {
  if (fd_ < 0)
    return;
  close(fd_);
  if (!placed_)
    unlink(path_.c_str());
}

int part_file::write_all(std::span<const uint8_t> bytes) const {
  while (!bytes.empty()) {
    const auto n = write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR)
      return errno;
    if (n > 0)
      bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return 0;
}

int part_file::synchronise() const {
  return fsync(fd_) == 0 ? 0 : errno;
}

int part_file::put_at(const fs::path& target, on_existing mode) {
  int error = 0;
  if (mode == on_existing::refuse)
    error = take_free_name(path_, target);
  else if (rename(path_.c_str(), target.c_str()) != 0)
    error = errno;
  placed_ = error == 0;
  return error;
}

bool part_file::is_temporary(std::string_view name) {
  return name.starts_with(beginning) && name.ends_with(ending);
}

int synchronise_folder(const fs::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return errno;
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  // Some file systems cannot synchronise folders.
  return error == EINVAL || error == EROFS ? 0 : error;
}

} // namespace atelier::core
