// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/console.hpp>

#include <fmt/format.h>

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

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next =
      i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    // Terminals also obey U+0080 to U+009F, which have two bytes in UTF-8.
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      out += fmt::format("\\x{:02x}", next);
      ++i;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

bool reader_has_left() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

console standard_console() {
  return {std::cin, std::cout, std::cerr, columns_of(STDERR_FILENO)};
}

} // namespace atelier::runtime::cli
