// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/console.hpp>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>

namespace atelier::runtime::cli {

namespace {

uint32_t columns_of(int fd) {
  if (!isatty(fd))
    return 0;
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return 80;
  return size.ws_col;
}

} // namespace

void console::complain(std::string_view text) const {
  err << "atelier: " << text << '\n';
}

bool reader_has_left() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

console standard_console() {
  return {std::cin, std::cout, std::cerr, columns_of(STDERR_FILENO)};
}

} // namespace atelier::runtime::cli
