// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/simulation/outcome.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace atelier::runtime::detail {

/// The measure of quality in a row: a share of the best quality, where more is
/// better, or a distance from it (FID), where less is better.
enum class quality_figure : uint8_t { quality, fid };

/// The results of a policy.
struct fared {
  /// Share of the requests that were late or dropped.
  double violations = 0;
  /// Mean quality, or the FID.
  double quality = 0;
};

/// The intervals in which requests were late or dropped.
struct missed {
  /// The fewest intervals that hold nine tenths of these requests, and the
  /// number of all intervals with arrivals.
  size_t intervals = 0;
  size_t of = 0;
  /// Arrivals in these intervals, divided by those in as many others of the
  /// same runs.
  double crowded = 0;
};

/// Returns where the requests of these runs were late or dropped. All fields
/// are 0 if none was.
missed where_missed(std::span<const outcome> runs);

/// The runs of one policy, or of one of its configurations, by seed.
struct named_run {
  std::string name;
  std::vector<outcome> runs;
};

using named_runs = std::vector<named_run>;

/// Finds in a row's runs why the row fails. It is a plain function, without
/// state, so that no reason can be chosen before the run.
using reason_of = std::string (*)(const named_runs&);

/// Returns what the devices of each policy did and where its requests waited,
/// and the intervals in which the worse of the first two misses most requests.
std::string what_they_did(const named_runs& of);

struct comparison {
  /// Neither figure is worse, and one is better.
  bool passes = false;
  /// Why it does not pass, by the figures only.
  std::string reason;
};

/// Compares two policies on one load.
/// @param ours_missed used if `ours` has more violations.
comparison compare(const fared& ours, const fared& theirs, quality_figure of,
                   const missed& ours_missed = {});

/// Compares the means of both policies.
/// @pre of.size() == 2
comparison compare(const named_runs& of, quality_figure figure);

} // namespace atelier::runtime::detail
