// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/input_file.hpp>

#include <linux/magic.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace atelier::core {

namespace {

/// File systems whose files have no end of their own: some files block, and
/// some never end.
constexpr std::array made_up{uint64_t{PROC_SUPER_MAGIC}, uint64_t{SYSFS_MAGIC},
                             uint64_t{TRACEFS_MAGIC}, uint64_t{DEBUGFS_MAGIC}};

std::string_view kind_of(mode_t mode) {
  if (S_ISFIFO(mode))
    return "a pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode))
    return "a device";
  return S_ISSOCK(mode) ? "a socket" : "no regular file";
}

} // namespace

opened_file::opened_file(const std::string& path)
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}

opened_file::~opened_file() {
  if (number >= 0)
    ::close(number);
}

file_bytes read_bytes(const opened_file& from, size_t most_bytes) {
  file_bytes out;

  struct stat about {};

  if (::fstat(from.number, &about) != 0) {
    out.fault = errno;
    return out;
  }
  // The size can be wrong; the end of the file cannot. Memory is reserved at
  // once, so that a long text is not copied as it grows.
  const auto size = static_cast<uint64_t>(about.st_size);
  out.longer = size > most_bytes;
  if (out.longer)
    return out;
  out.text.reserve(size);
  std::array<char, size_t{1} << 16> part;
  for (;;) {
    const auto n = ::read(from.number, part.data(), part.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      out.fault = errno;
    if (n <= 0)
      return out;
    const auto more = static_cast<size_t>(n);
    if (out.text.size() + more > out.text.capacity())
      out.text.reserve(
        std::min(2 * out.text.capacity() + more, most_bytes + part.size()));
    out.text.append(part.data(), more);
    out.longer = out.text.size() > most_bytes;
    if (out.longer)
      return out;
  }
}

result<void> check_input_file(const std::string& path, std::string_view shown) {
  const auto unreadable = [&](int number) {
    return fail(ec::io_failed, "cannot read {}: {}", shown,
                std::generic_category().message(number));
  };
  const opened_file file{path};
  if (file.number < 0)
    // open reports ENXIO for a socket.
    return errno == ENXIO ? fail(ec::io_failed,
                                 "cannot read {}: it is a socket or a device, "
                                 "not a regular file",
                                 shown)
                          : unreadable(errno);

  struct stat about {};

  struct statfs system {};

  if (::fstat(file.number, &about) != 0 || ::fstatfs(file.number, &system) != 0)
    return unreadable(errno);
  if (S_ISDIR(about.st_mode))
    return unreadable(EISDIR);
  if (!S_ISREG(about.st_mode))
    return fail(ec::io_failed, "cannot read {}: it is {}, not a regular file",
                shown, kind_of(about.st_mode));
  if (std::find(made_up.begin(), made_up.end(),
                static_cast<uint64_t>(system.f_type))
      != made_up.end())
    return fail(ec::io_failed,
                "cannot read {}: it is a file of the kernel, not one of a disk",
                shown);
  return {};
}

} // namespace atelier::core
