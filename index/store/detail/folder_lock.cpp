// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/store/detail/folder_lock.hpp>
#include <atelier/index/store/detail/private_folder.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

namespace atelier::index::detail {

using core::ec;

core::result<folder_lock> folder_lock::take(
  const std::filesystem::path& folder) {
  const auto path = folder / "lock";
  const int fd =
    open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0 && errno == ELOOP)
    return refused_link(path);
  if (fd < 0)
    return core::fail(ec::io_failed, "{}: cannot be opened: {}", path.string(),
                      std::generic_category().message(errno));
  folder_lock out{fd};
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return core::fail(ec::io_failed, "{}: cannot be locked: {}",
                        path.string(), std::generic_category().message(errno));
    std::array<char, 24> pid{};
    const auto n = pread(fd, pid.data(), pid.size(), 0);
    std::string who{pid.data(), n > 0 ? static_cast<size_t>(n) : 0};
    who.erase(who.find_last_not_of('\n') + 1);
    return core::fail(ec::unavailable, "{} is in use by {}", folder.string(),
                      who.empty() ? "another process" : "process " + who);
  }
  // The pid is for processes that find the folder locked; the lock holds
  // without it.
  const auto who = fmt::format("{}\n", getpid());
  if (ftruncate(fd, 0) != 0
      || pwrite(fd, who.data(), who.size(), 0)
           != static_cast<ssize_t>(who.size()))
    return core::fail(ec::io_failed, "{}: cannot be written: {}", path.string(),
                      std::generic_category().message(errno));
  return out;
}

folder_lock::~folder_lock() {
  if (fd_ >= 0)
    close(fd_);
}

} // namespace atelier::index::detail
