// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning::nirvana {

/// Predicts whether the cache probably has a match for a prompt: a half-space
/// of embeddings.
struct match_predictor {
  std::vector<float> weights;
  /// The score from which it predicts a hit.
  double offset = 0;
  /// If it is not trained, it always predicts a hit, and every request
  /// searches.
  bool trained = false;

  bool says_hit(std::span<const float> embedding) const;
};

/// Embeddings, stored one after another.
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

/// The fraction of embeddings that count as outliers.
/// Source: Nirvana, section 6.
inline constexpr double outlier_share = 0.001;

/// The fraction of embeddings that may change before a predictor is trained
/// again.
/// Source: Nirvana, section 6.
inline constexpr double retrain_share = 0.05;

/// The fraction of the objective by which a one-class machine may exceed its
/// optimum.
inline constexpr double gap_share = 0.005;

/// Trains a linear one-class machine on all embeddings of the cache: min
/// |w|^2/2 - rho + mean max(0, rho - w x) / nu, in its dual by pairs in random
/// order, until the gap to the dual is below gap_share or for `epochs`. Without
/// embeddings, it stays untrained. The same list and stream give the same
/// machine.
/// Source: Nirvana, section 5.2, which uses scikit-learn's SGDOneClassSVM.
match_predictor train_one_class(const embedding_list& cached,
                                core::philox random, double nu = outlier_share,
                                size_t epochs = 200);

/// Returns the objective that train_one_class minimises.
double one_class_objective(const match_predictor& of,
                           const embedding_list& cached,
                           double nu = outlier_share);

/// The result of a search.
struct search_outcome {
  bool hit = false;
  /// The number of requests with such results for which it counts, at least 1.
  uint32_t stands_for = 1;
};

/// Trains a logistic classifier on the results of searches: the default, since
/// a half-space around the whole cache does not express similarity to one of
/// its entries. `outcomes` has a value for each embedding of the list. Unless
/// both hits and misses occur, it stays untrained.
match_predictor train_on_outcomes(const embedding_list& searched,
                                  std::span<const search_outcome> outcomes,
                                  core::philox random, size_t epochs = 20);

/// Returns whether the changes since the last training require another one.
bool retraining_due(size_t changed, size_t entries,
                    double share = retrain_share);

} // namespace atelier::planning::nirvana
