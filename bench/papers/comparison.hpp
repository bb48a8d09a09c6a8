// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/simulation/outcome.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace atelier::runtime::detail {

/// What a row tells of quality: a share of the best, which is to be large, or a
/// distance from it, which is to be small.
enum class quality_figure : uint8_t { quality, fid };

/// How a policy fared.
struct fared {
  /// Share of the requests that were late or dropped.
  double violations = 0;
  /// Mean quality, or the FID.
  double quality = 0;
};

/// Where requests were late or dropped.
struct missed {
  /// The fewest intervals that hold nine tenths of them, of all with arrivals.
  size_t intervals = 0;
  size_t of = 0;
  /// Arrivals in those, over the ones in as many others of the same runs.
  double crowded = 0;
};

/// Returns where the requests of these runs were missed; nothing was: zeros.
missed where_missed(std::span<const outcome> runs);

struct comparison {
  /// Neither figure is worse, and one is better.
  bool passes = false;
  /// Where it does not pass: why, by the figures alone.
  std::string reason;
};

/// Compares two policies on one load.
/// @param ours_missed told where `ours` has more violations.
comparison compare(const fared& ours, const fared& theirs, quality_figure of,
                   const missed& ours_missed = {});

} // namespace atelier::runtime::detail
