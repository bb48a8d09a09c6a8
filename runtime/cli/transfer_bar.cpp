// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/model_report.hpp>
#include <atelier/runtime/cli/progress_bar.hpp>
#include <atelier/runtime/cli/transfer_bar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace atelier::runtime::cli {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds redraw{100};

} // namespace

std::optional<std::string> transfer_line(uint64_t done, uint64_t all,
                                         std::chrono::duration<double> passed,
                                         uint32_t columns) {
  if (passed < progress_bar::patience || all == 0)
    return std::nullopt;
  const double share =
    std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
  const auto rate =
    static_cast<uint64_t>(static_cast<double>(done) / passed.count());
  auto text = fmt::format(" {} of {}  {}/s", show_bytes(done), show_bytes(all),
                          show_bytes(rate));
  if (share > 0)
    text += fmt::format("  {} left",
                        show_duration(passed.count() / share - passed.count()));
  // The last column stays free: some terminals wrap at it.
  const size_t room = columns > 1 ? columns - 1 : 0;
  constexpr size_t narrowest = 8;
  if (text.size() + narrowest > room)
    return text.substr(1, room);
  const size_t width = std::min<size_t>(40, room - text.size() - 2);
  const auto filled = static_cast<size_t>(share * static_cast<double>(width));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]"
       + text;
}

transfer_display::transfer_display(const console& terminal,
                                   const interruption& interrupted)
  : terminal_(terminal),
    interrupted_(interrupted),
    start_(steady_clock::now()),
    drawn_(start_) {}

transfer_display::~transfer_display() {
  if (shown_)
    terminal_.err << "\r\x1b[K" << std::flush;
}

bool transfer_display::proceed(uint64_t done, uint64_t all) {
  const auto now = steady_clock::now();
  if (terminal_.columns > 0 && now - drawn_ >= redraw) {
    drawn_ = now;
    const auto line = transfer_line(done, all, now - start_, terminal_.columns);
    if (line) {
      terminal_.err << '\r' << *line << "\x1b[K" << std::flush;
      shown_ = true;
    }
  }
  return interrupted_.count() == 0;
}

} // namespace atelier::runtime::cli
