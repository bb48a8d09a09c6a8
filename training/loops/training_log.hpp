// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/training/train.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace atelier::gpu {

/// Appends reports of a training to a file, one JSON object per line.
/// Threads: one at a time.
class training_log {
public:
  /// Errors: ec::io_failed.
  static core::result<training_log> open(const std::filesystem::path& file);

  /// Writes the progress and the numbers in `more` as one line. Numbers that
  /// are not finite become null. A line that cannot be written is lost.
  void write(const training_progress& at,
             const std::map<std::string, double>& more);

private:
  explicit training_log(std::ofstream to) : to_(std::move(to)) {}

  std::ofstream to_;
};

} // namespace atelier::gpu
