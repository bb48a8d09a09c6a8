// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace atelier::planning::argus {

/// One degree of approximation, profiled at batch 1.
struct level {
  std::string name;
  core::variant_id variant;
  /// The number of steps skipped at the start, K.
  uint32_t skip = 0;
  /// The seconds of one request on one worker, t_v; above 0.
  double seconds = 0;
  /// The mean quality over all prompts, Q_v.
  double quality = 0;
  /// The seconds for preparing a worker that hosts another variant.
  double load_seconds = 0;

  /// Returns the requests per second of one worker, P_th / 60.
  double rate() const {
    return 1 / seconds;
  }

  friend bool operator==(const level&, const level&) = default;
};

/// Levels from the slowest and best, v_1, to the fastest, v_n: seconds and
/// quality both fall strictly.
using ladder = std::vector<level>;

/// Sorts levels from slow to fast and removes every level that another beats in
/// time without being worse, or in quality without being slower. Among equal
/// levels, the first one stays.
ladder without_dominated(std::vector<level> all);

/// Returns the seconds of one request of `v`, as the only row of its batch,
/// that skips `skip` steps: text, steps and decoding.
double request_seconds(const variant_profile& v, core::extent px,
                       uint32_t skip = 0);

/// Returns the seconds of a variant's whole run on the fastest of these kinds
/// of device; without any kind, those of the profile for all kinds.
double quickest_seconds(const profile& known, core::variant_id variant,
                        std::span<const device_group> groups);

} // namespace atelier::planning::argus
