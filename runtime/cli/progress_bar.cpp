// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/progress_bar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace atelier::runtime::cli {

progress_bar::progress_bar(uint64_t images, time_point start)
  : images_(images), start_(start) {}

void progress_bar::step(uint64_t index, uint32_t done, uint32_t of) {
  auto& x = running_[index];
  if (done > x.done)
    steps_ += done - x.done;
  x = {done, of};
}

void progress_bar::finish(uint64_t index) {
  running_.erase(index);
  ++finished_;
}

double progress_bar::share() const {
  if (images_ == 0)
    return 1;
  double images = static_cast<double>(finished_);
  for (const auto& [index, x] : running_)
    if (x.of > 0)
      images += std::min(1.0, static_cast<double>(x.done) / x.of);
  return std::min(1.0, images / static_cast<double>(images_));
}

std::string progress_bar::rate(double seconds) const {
  if (images_ == 1)
    return fmt::format("{:.1f} steps/s", static_cast<double>(steps_) / seconds);
  const double images = share() * static_cast<double>(images_);
  return fmt::format("{:.2f} images/s", images / seconds);
}

std::optional<std::string> progress_bar::line(time_point now,
                                              uint32_t columns) const {
  if (now - start_ < patience)
    return std::nullopt;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double done = share();
  auto text = fmt::format(" {}/{}  {}", finished_, images_, rate(seconds));
  if (done > 0)
    text += fmt::format("  {} left", show_duration(seconds / done - seconds));
  // The last column stays free: some terminals wrap at it.
  const size_t room = columns > 1 ? columns - 1 : 0;
  constexpr size_t narrowest = 8;
  if (text.size() + narrowest > room)
    return text.substr(1, room);
  const size_t width = std::min<size_t>(40, room - text.size() - 2);
  const auto filled = static_cast<size_t>(done * static_cast<double>(width));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]"
       + text;
}

std::string show_duration(double seconds) {
  const auto whole =
    static_cast<uint64_t>(std::clamp(std::ceil(seconds), 0.0, 1e9));
  if (whole < 60)
    return fmt::format("{} s", whole);
  if (whole < 3600)
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60,
                     whole % 60);
}

} // namespace atelier::runtime::cli
