// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/cli/interruption.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace atelier::runtime::cli {

/// Returns the progress of reading or writing bytes as one line. Pure: time is
/// passed in. Returns nothing while the work is shorter than progress_bar's
/// patience.
std::optional<std::string> transfer_line(uint64_t done, uint64_t all,
                                         std::chrono::duration<double> passed,
                                         uint32_t columns);

/// Shows the line on a terminal while it lives, and watches for the user's
/// request to stop.
class transfer_display {
public:
  transfer_display(const console& terminal, const interruption& interrupted);
  ~transfer_display();

  transfer_display(const transfer_display&) = delete;
  transfer_display& operator=(const transfer_display&) = delete;

  /// Returns whether to continue.
  bool proceed(uint64_t done, uint64_t all);

private:
  const console& terminal_;
  const interruption& interrupted_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  bool shown_ = false;
};

} // namespace atelier::runtime::cli
