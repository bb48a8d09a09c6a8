// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace atelier::config::detail {

namespace {

core::error cannot_read(int number) {
  return core::fail(core::ec::io_failed, "cannot be read: {}",
                    std::generic_category().message(number));
}

core::result<std::string> read_open(int file, size_t most) {
  struct stat about {};

  if (fstat(file, &about) != 0)
    return cannot_read(errno);
  if (!S_ISREG(about.st_mode))
    return core::fail(core::ec::io_failed, "is not a regular file");
  std::string content;
  char block[16 * 1024];
  // The size from fstat can be wrong; the end of the file cannot.
  while (content.size() <= most) {
    const auto n = ::read(file, block, sizeof block);
    if (n == 0)
      return content;
    if (n < 0 && errno != EINTR)
      return cannot_read(errno);
    if (n > 0)
      content.append(block, static_cast<size_t>(n));
  }
  return core::fail(core::ec::io_failed, "holds more than {} bytes", most);
}

} // namespace

core::result<std::string> read_file(const char* path, size_t most) {
  // Without O_NONBLOCK opening a named pipe would block.
  const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return cannot_read(errno);
  auto content = read_open(file, most);
  ::close(file);
  return content;
}

} // namespace atelier::config::detail
