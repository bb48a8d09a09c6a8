// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::planning {

/// What a predictor of hits learns from.
enum class predicted_from : uint8_t {
  /// There is no predictor: a search answers.
  nothing,
  /// Whether earlier searches hit.
  outcomes,
  /// The entries of the cache.
  entries,
};

/// A search is made for one in this many requests that are predicted to miss.
/// The outcomes show how many hits the predictor misses.
inline constexpr uint32_t predicted_misses_per_search = 16;

/// A prediction whose search was made.
struct checked_prediction {
  bool said_hit = false;
  bool hit = false;
  /// The number of predictions for which it stands, as not every predicted miss
  /// is searched for.
  uint32_t stands_for = 1;

  friend bool operator==(const checked_prediction&,
                         const checked_prediction&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f,
                                                 checked_prediction& x) {
    return f(x.said_hit, x.hit, x.stands_for);
  }
};

/// Counts checked predictions. Each counts as often as the predictions for
/// which it stands, so that the rates hold for all requests.
struct prediction_tally {
  /// Predicted hits that hit, and that missed.
  uint64_t right_hits = 0;
  uint64_t false_hits = 0;
  /// Predicted misses that hit, and that missed.
  uint64_t missed_hits = 0;
  uint64_t right_misses = 0;
  /// The searches that were made.
  uint64_t checked = 0;

  void add(const checked_prediction& x) {
    auto& cell = x.said_hit ? (x.hit ? right_hits : false_hits)
                            : (x.hit ? missed_hits : right_misses);
    cell += x.stands_for;
    ++checked;
  }

  /// Undoes `add`.
  void remove(const checked_prediction& x) {
    auto& cell = x.said_hit ? (x.hit ? right_hits : false_hits)
                            : (x.hit ? missed_hits : right_misses);
    cell -= x.stands_for;
    --checked;
  }

  prediction_tally& operator+=(const prediction_tally& x) {
    right_hits += x.right_hits;
    false_hits += x.false_hits;
    missed_hits += x.missed_hits;
    right_misses += x.right_misses;
    checked += x.checked;
    return *this;
  }

  prediction_tally& operator-=(const prediction_tally& x) {
    right_hits -= x.right_hits;
    false_hits -= x.false_hits;
    missed_hits -= x.missed_hits;
    right_misses -= x.right_misses;
    checked -= x.checked;
    return *this;
  }

  /// Whether precision and recall are defined: a hit was predicted, and a
  /// search hit.
  bool has_rates() const {
    return right_hits + false_hits > 0 && right_hits + missed_hits > 0;
  }

  /// Returns the fraction of predicted hits that hit; 0 if none was predicted.
  double precision() const {
    return share(right_hits, right_hits + false_hits);
  }

  /// Returns the fraction of hits that were predicted; 0 without hits.
  double recall() const {
    return share(right_hits, right_hits + missed_hits);
  }

  /// Returns the fraction of misses for which a hit was predicted; 0 without
  /// misses.
  double false_alarms() const {
    return share(false_hits, false_hits + right_misses);
  }

  /// Returns the fraction of requests that hit if they search.
  double hits() const {
    return share(right_hits + missed_hits,
                 right_hits + false_hits + missed_hits + right_misses);
  }

  friend bool operator==(const prediction_tally&,
                         const prediction_tally&) = default;

private:
  static double share(uint64_t part, uint64_t of) {
    return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
  }
};

/// The number of searches after which the measured rates of a predictor replace
/// the published ones.
inline constexpr uint64_t enough_predictions = 100;

} // namespace atelier::planning
