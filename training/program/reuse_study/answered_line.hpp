// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::reuse_study {

/// The outcome of one request: a line of a system's log.
struct answered_line {
  /// Its number in the recorded order, from 0.
  uint64_t number = 0;
  std::string prompt;
  uint64_t seed = 0;
  uint64_t session = 0;
  std::string change;
  std::string route;
  /// "latent" or "image"; empty: it was drawn from noise.
  std::string reused;
  /// The steps that reuse saved, and the similarity of what was reused.
  uint32_t skipped = 0;
  double similarity = 0;
  /// The similarity of the nearest entry that a search found; nothing: no
  /// search, or it found none.
  std::optional<double> nearest;
  uint32_t steps_run = 0;
  /// The device's time, and the time from submission to answer.
  double text_ms = 0;
  double denoise_ms = 0;
  double decode_ms = 0;
  double total_ms = 0;
  /// The answer's work was kept for later requests.
  bool stored = false;
  /// Objects of the caption, and those of them that the image shows with
  /// everything said of them. Both 0: the prompt is no caption of the family.
  uint32_t objects_said = 0;
  uint32_t objects_right = 0;
  /// The root mean square difference from the full run's image, 0..1; nothing:
  /// it is the full run.
  std::optional<double> distance;

  double device_ms() const {
    return text_ms + denoise_ms + decode_ms;
  }

  friend bool operator==(const answered_line&, const answered_line&) = default;
};

/// A system's log: one JSON object a line, appended as requests are answered.
/// Threads: one.
class study_log {
public:
  /// Opens a log, or begins an empty one. A last line that a stop left
  /// incomplete is removed. Errors: ec::io_failed; ec::bad_payload with the
  /// line, if a line is no answer or its number is not its place.
  static core::result<study_log> open(const std::filesystem::path& file);

  const std::vector<answered_line>& lines() const {
    return lines_;
  }

  /// Appends a line, which is on its way to the disk when this returns.
  /// Errors: ec::io_failed.
  core::result<void> append(answered_line x);

private:
  std::filesystem::path file_;
  std::vector<answered_line> lines_;
};

} // namespace atelier::runtime::reuse_study
