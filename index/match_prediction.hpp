// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/offload.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/planning/reuse/hit_prediction.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace atelier::index {

struct prediction_limits {
  /// Namespaces that have a predictor. If there are more, the one that was
  /// unused for longest loses its predictor; with `first_come` the others get
  /// none, so that no namespace loses anything because of others.
  size_t spaces = 32;
  bool first_come = false;
  /// Outcomes of searches, with their vectors, that a namespace remembers: the
  /// last ones.
  size_t outcomes = 512;
  /// Outcomes from which a predictor is trained for the first time.
  size_t least_outcomes = 32;
  /// Entries from which a predictor is trained: the last ones.
  size_t entries = 4096;
  /// Checked predictions over which precision and recall are measured.
  size_t window = 1000;
};

struct prediction_counts {
  /// Predicted hits and predicted misses, of requests that asked.
  uint64_t said_hits = 0;
  uint64_t said_misses = 0;
  /// The last checked predictions, and the number of searches that checked
  /// one.
  planning::prediction_tally recent;
  uint64_t checked = 0;
  /// Trainings that ended, and trainings that failed or that the queue did not
  /// take.
  uint64_t trainings = 0;
  uint64_t failures = 0;
  /// Namespaces that have a trained predictor.
  uint64_t trained_spaces = 0;

  friend bool operator==(const prediction_counts&,
                         const prediction_counts&) = default;
};

/// Predicts whether a search would hit, without making it. Each namespace of
/// keys (tenant_part) has its own predictor, which depends on nothing of
/// others: one learns from the entries of the namespace, one from the outcomes
/// of its searches. A predictor is trained again when more than a twentieth of
/// its entries or outcomes changed, beside the requests; until it is replaced
/// as a whole, the last one answers.
///
/// A search in a namespace without entries never hits. A predictor that is not
/// trained yet, or whose training failed, says that a search hits, so that
/// every request searches.
/// Threads: any. No call waits for a training.
class match_prediction {
public:
  /// @param trains runs the trainings; its destructor waits for the one that
  ///        runs
  /// @param seed for the random order of training
  match_prediction(std::shared_ptr<kept_work> kept,
                   std::unique_ptr<core::offload> trains, uint64_t seed,
                   prediction_limits most = {});
  ~match_prediction();
  match_prediction(const match_prediction&) = delete;
  match_prediction& operator=(const match_prediction&) = delete;

  /// Returns whether a search under the key for this vector probably hits, and
  /// counts the answer. An empty vector, for example of an encoder that failed,
  /// counts as a hit.
  /// @pre `by` is a predictor
  bool ask(planning::predicted_from by, std::string_view key,
           std::span<const float> vector);

  /// Learns from a search under the key. Returns whether the predictor expected
  /// a hit before.
  /// @param stands_for the number of predicted misses for which the search
  ///        counts if it was predicted to miss, because not every one of them
  ///        is searched for; 0 counts as 1
  /// @pre `by` is a predictor
  bool learn(planning::predicted_from by, std::string_view key,
             std::span<const float> vector, bool hit, uint32_t stands_for = 1);

  /// Counts a prediction that a search checked.
  void count(const planning::checked_prediction& x);

  prediction_counts counts() const;

  /// Waits for the training that runs, and trains nothing from then on.
  void stop();

private:
  struct state;

  /// Queues the training of a namespace's predictor if it is due.
  void train(planning::predicted_from by, const std::string& space,
             size_t width);

  const std::shared_ptr<state> state_;
  std::mutex trainer_;
  /// Null once stopped.
  std::unique_ptr<core::offload> trains_;
};

} // namespace atelier::index
