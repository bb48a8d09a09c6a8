// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning::nirvana {

/// Says whether a prompt probably has a near one in the cache: a half-space of
/// embeddings.
struct match_predictor {
  std::vector<float> weights;
  /// It says yes from here on.
  double offset = 0;
  /// Nothing was learned yet: the answer is yes, and everything is searched.
  bool trained = false;

  bool says_hit(std::span<const float> embedding) const;
};

/// Embeddings, one after the other.
struct embedding_list {
  std::span<const float> values;
  size_t width = 0;

  size_t size() const {
    return width == 0 ? 0 : values.size() / width;
  }

  std::span<const float> at(size_t i) const {
    return values.subspan(i * width, width);
  }
};

/// Share of embeddings taken for outliers.
/// Source: Nirvana, section 6.
inline constexpr double outlier_share = 0.001;

/// Share of embeddings that may change before a predictor is trained anew.
/// Source: Nirvana, section 6.
inline constexpr double retrain_share = 0.05;

/// Share of the objective that a one-class machine may lie above its optimum.
inline constexpr double gap_share = 0.005;

/// Trains a linear one-class machine on all embeddings of the cache:
/// min |w|^2/2 - rho + mean max(0, rho - w x) / nu, in its dual by pairs in
/// random order, until the gap to the dual is below gap_share or for `epochs`.
/// None: untrained. The same list and stream give the same machine.
/// Source: Nirvana, section 5.2; scikit-learn's SGDOneClassSVM is what it uses.
match_predictor train_one_class(const embedding_list& cached,
                                core::philox random, double nu = outlier_share,
                                size_t epochs = 200);

/// Returns the objective that train_one_class makes small.
double one_class_objective(const match_predictor& of,
                           const embedding_list& cached,
                           double nu = outlier_share);

/// Trains a logistic classifier on what searches found: the default, since a
/// half-space around all of the cache is not nearness to one of it. `hit` goes
/// with the list. Without both outcomes: untrained.
match_predictor train_on_outcomes(const embedding_list& searched,
                                  std::span<const uint8_t> hit,
                                  core::philox random, size_t epochs = 20);

/// Whether so many changes since the last training call for another.
bool retraining_due(size_t changed, size_t entries,
                    double share = retrain_share);

} // namespace atelier::planning::nirvana
