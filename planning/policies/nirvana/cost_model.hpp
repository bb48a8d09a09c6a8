// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace atelier::planning::nirvana {

/// Returns the share of computation that is saved: the sum over skips of the
/// share of requests that get them times K/N. The published form leaves out the
/// misses, so that its least latency is at no hits.
/// Source: Nirvana, section 4.1, Eq. 11, corrected.
double saved_share(std::span<const double> shares,
                   std::span<const uint32_t> skips, uint32_t steps);

/// Returns the mean seconds of a request: a full run of `full` less what is
/// saved, and one search each.
double mean_seconds(double full, double saved, double search);

/// What is measured of a predictor of matches.
struct predictor_record {
  /// Of those it called hits, the share that hit; of hits, the share it called.
  double precision = 0;
  double recall = 0;
  /// Share of requests that hit if they search.
  double hits = 0;
  /// Seconds of a search, and those that a hit saves.
  double search_seconds = 0;
  double hit_saves = 0;
};

/// Returns the seconds a request that asking the predictor first saves: the
/// searches that it spares less the hits that it loses,
/// (1 - r h/p) l - (1 - r) h S.
/// Source: Nirvana, section 5.2, with its formula's bracket and recall put
///         right.
double predictor_gain(const predictor_record& of);

/// Whether to ask the predictor: only while it gains. The paper's own figures
/// (.96, .95, .88, .1 s, 2.05 s) lose 77 ms a request.
bool predictor_pays(const predictor_record& of);

} // namespace atelier::planning::nirvana
