// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/console.hpp>

#include <chrono>
#include <string_view>

namespace atelier::runtime::cli {

/// Tells people how far work of minutes or hours is: on a terminal in one line
/// that is written again and again and cleared at the end, in a log in a new
/// line now and then. Short work leaves nothing in a log.
class progress_line {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// A log gets a line this often.
  static constexpr std::chrono::seconds log_every{30};

  explicit progress_line(const console& terminal,
                         time_point start = std::chrono::steady_clock::now());
  ~progress_line();

  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// Shows how far the work is.
  void show(std::string_view text,
            time_point now = std::chrono::steady_clock::now());

  /// Writes a line that stays.
  void keep(std::string_view text);

private:
  void clear();

  const console& terminal_;
  time_point told_at_;
  bool shown_ = false;
};

} // namespace atelier::runtime::cli
