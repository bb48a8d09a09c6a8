// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/reuse/thresholds.hpp>

#include <string>
#include <string_view>

namespace atelier::planning {

/// The memory of plans of `nirvana` and its baselines.
struct nirvana_memory {
  static constexpr std::string_view name = "nirvana";

  /// Whether asking for `hit_likely` first gains.
  bool asks_predictor = false;

  /// The thresholds by which requests resume, in steps of the variant, and what
  /// they are: for people, and not in plan files. Empty if none resume.
  skip_table thresholds = {};
  std::string thresholds_of = {};

  /// From which similarity on images answer: for people, and not in plan files.
  /// Empty if none do.
  std::string images_of = {};

  /// Why the predictor is asked or not, and by which rates: for people, and not
  /// in plan files. Empty if there is no predictor.
  std::string predictor_of = {};

  friend bool operator==(const nirvana_memory&,
                         const nirvana_memory&) = default;
};

} // namespace atelier::planning
