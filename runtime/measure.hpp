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

/// What is measured.
struct measurement {
  /// The first device is measured, with all its variants.
  config::settings settings;
  std::vector<uint32_t> batches = {1, 2, 4};
  /// Empty: each model's native size, and a quarter of its pixels. Of those
  /// with the same count of pixels the first is measured.
  std::vector<core::extent> sizes;
  /// Timed steps of each point, after one that is not timed.
  uint32_t steps = 3;
};

/// Measures every variant of a device at every batch and size on this machine:
/// steps, text and decoding (medians; decoding of the variant's own size where
/// that is measured), loading, memory. Variants that differ in
/// their steps alone are measured once.
/// `told`: called before each point with what comes, how many points are done
/// and how many there are; false ends the work.
/// Errors: those of make_executor and of the rows; ec::cancelled.
/// Threads: runs here, and on the device's own thread.
core::result<planning::profile> measure(
  const measurement& wanted,
  const std::function<bool(const std::string&, size_t, size_t)>& told);

} // namespace atelier::runtime
