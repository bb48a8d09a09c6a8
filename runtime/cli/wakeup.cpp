// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/wakeup.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace atelier::runtime::cli {

wakeup::wakeup() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0)
    throw std::system_error(errno, std::generic_category(), "eventfd");
}

wakeup::~wakeup() {
  close(fd_);
}

void wakeup::wake() noexcept {
  const int kept = errno;
  const uint64_t one = 1;
  // It fails only when the counter is full, and then a wake is pending.
  [[maybe_unused]] const auto n = write(fd_, &one, sizeof one);
  errno = kept;
}

void wakeup::wait(std::optional<std::chrono::milliseconds> most) {
  pollfd entry{fd_, POLLIN, 0};
  poll(&entry, 1, most ? static_cast<int>(most->count()) : -1);
  uint64_t count = 0;
  [[maybe_unused]] const auto n = read(fd_, &count, sizeof count);
}

} // namespace atelier::runtime::cli
