// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace atelier::planning {

/// The memory of plans of `nirvana` and its baselines.
struct nirvana_memory {
  static constexpr std::string_view name = "nirvana";

  /// Whether asking for `hit_likely` first gains.
  bool asks_predictor = false;

  friend bool operator==(const nirvana_memory&,
                         const nirvana_memory&) = default;
};

} // namespace atelier::planning
