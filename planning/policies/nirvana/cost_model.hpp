// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::planning::nirvana {

/// The measured rates of a predictor of matches.
struct predictor_record {
  /// The fraction of predicted hits that hit, and the fraction of hits that
  /// were predicted.
  double precision = 0;
  double recall = 0;
  /// The fraction of requests that hit if they search.
  double hits = 0;
  /// The seconds of a search, and the seconds that a hit saves.
  double search_seconds = 0;
  double hit_saves = 0;
};

/// Returns the seconds per request that asking the predictor first saves: the
/// avoided searches less the lost hits,
/// (1 - r h/p) l - (1 - r) h S.
/// Source: Nirvana, section 5.2, with its formula's bracket and recall
/// corrected.
double predictor_gain(const predictor_record& of);

/// Returns whether to ask the predictor: only while it gains. The paper's own
/// figures (.96, .95, .88, .1 s, 2.05 s) lose 77 ms per request.
bool predictor_pays(const predictor_record& of);

} // namespace atelier::planning::nirvana
