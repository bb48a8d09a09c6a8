// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace atelier::runtime::cli {

/// Shows the progress of several images in one line. Pure: time is passed in.
class progress_bar {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Work shorter than this shows nothing.
  static constexpr std::chrono::seconds patience{1};

  progress_bar(uint64_t images, time_point start);

  /// Records that image `index` is at step `done` of `of`.
  void step(uint64_t index, uint32_t done, uint32_t of);

  /// Records that image `index` is answered, whatever the answer.
  void finish(uint64_t index);

  /// Returns the completed fraction of the work, 0..1.
  double share() const;

  /// Returns the line for a terminal of that many columns, without a line end;
  /// nothing while the work is shorter than `patience`.
  std::optional<std::string> line(time_point now, uint32_t columns) const;

private:
  std::string rate(double seconds) const;

  uint64_t images_;
  time_point start_;
  uint64_t finished_ = 0;
  /// Steps of the images that are finished or running; a single image's rate is
  /// computed from them.
  uint64_t steps_ = 0;

  struct run {
    uint32_t done = 0;
    uint32_t of = 0;
  };

  std::map<uint64_t, run> running_;
};

/// Returns seconds as "SS s", "M:SS" or "H:MM:SS".
std::string show_duration(double seconds);

} // namespace atelier::runtime::cli
