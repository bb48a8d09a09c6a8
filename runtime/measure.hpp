// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace atelier::runtime {

/// The points to measure.
struct measurement {
  /// The first device is measured, with all its variants.
  config::settings settings;
  std::vector<uint32_t> batches = {1, 2, 4};
  /// Empty: each model's native size, and a quarter of its pixels. Among sizes
  /// with the same number of pixels, only the first is measured.
  std::vector<core::extent> sizes;
  /// Timed steps of each point, after one untimed step.
  uint32_t steps = 3;
};

/// Measures every variant of a device at every batch and size on this machine:
/// steps, text, decoding and encoding a source (medians; decoding and encoding
/// only at the variant's own size, if that is measured), loading, memory.
/// Variants that differ only in their steps are measured once. Limits this
/// process to the instruction set of the settings, which the times of a CPU
/// name.
/// @param progress a function called before each point with the point, the
/// number of completed points and their total; false ends the work
/// @param note a function called with what could not be measured and is left
/// out: the time of encoding, if a model draws but encodes no image
/// Errors: those of make_executor, use_instruction_set and of the rows;
/// ec::cancelled.
/// Threads: runs on the caller's thread and the device's own.
core::result<planning::profile> measure(
  const measurement& wanted,
  const std::function<bool(const std::string&, size_t, size_t)>& progress,
  const std::function<void(const std::string&)>& note = [](const std::string&) {
  });

} // namespace atelier::runtime
