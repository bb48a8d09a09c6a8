// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/simulation/outcome.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

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

/// Runs of one policy, or of one way to run it, by seed.
struct named_run {
  std::string name;
  std::vector<outcome> runs;
};

using named_runs = std::vector<named_run>;

/// Finds in the runs of a row why it fails. It is a plain function, which knows
/// nothing but them: so that no reason stands before the run.
using reason_of = std::string (*)(const named_runs&);

/// Returns what the devices of each did and where its requests waited; then, of
/// the first two, in which intervals the one that misses more does so.
std::string what_they_did(const named_runs& of);

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

/// Compares the means of the first two.
/// @pre of.size() == 2
comparison compare(const named_runs& of, quality_figure figure);

} // namespace atelier::runtime::detail
