// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/console.hpp>

#include <chrono>
#include <string_view>

namespace atelier::runtime::cli {

/// Shows the progress of work that takes minutes or hours. On a terminal it is
/// one line that is rewritten and is cleared at the end; in a log it is a new
/// line now and then. Short work leaves nothing in a log.
class progress_line {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Time between two lines of a log.
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
