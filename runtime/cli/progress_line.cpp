// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/progress_line.hpp>

#include <ostream>

namespace atelier::runtime::cli {

progress_line::progress_line(const console& terminal, time_point start)
  : terminal_(terminal), told_at_(start) {}

progress_line::~progress_line() {
  clear();
  terminal_.err << std::flush;
}

void progress_line::show(std::string_view text, time_point now) {
  if (terminal_.columns > 0) {
    clear();
    // The last column stays free: some terminals wrap at it.
    terminal_.err << text.substr(0, terminal_.columns - 1) << std::flush;
    shown_ = true;
  } else if (now - told_at_ >= log_every) {
    terminal_.err << text << std::endl;
    told_at_ = now;
  }
}

void progress_line::keep(std::string_view text) {
  clear();
  terminal_.err << text << std::endl;
}

void progress_line::clear() {
  if (shown_)
    terminal_.err << "\r\033[K";
  shown_ = false;
}

} // namespace atelier::runtime::cli
