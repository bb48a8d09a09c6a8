// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/index/match_prediction.hpp>
#include <atelier/planning/stage.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::actors {

/// Finds earlier work that is near a request, and whether a search would
/// succeed, if its policy asks for either. The second question is answered by a
/// predictor without a search; without a predictor by searching. The predictor
/// learns from each search and is checked by it. To know the hits that it
/// misses, one in planning::predicted_misses_per_search of the predicted misses
/// is answered with yes, and may use what its search then finds. A share of the
/// requests is not searched for, so that policies draw them in full; which ones
/// depends on nothing but the request.
///
/// Work that lacks what the policy needs of it is not found, so that work of
/// other policies takes no places. A search counts as a hit from the similarity
/// on from which the policy uses work.
///
/// Nearness is what the cache compares (kept_work::compares): the similarity of
/// two prompts, for an image of the prompt by which it was drawn, or that of a
/// prompt and an image. It does not answer a policy whose thresholds are for
/// the other one. If it is late or fails, the request continues without its
/// result.
/// Threads: any.
class search_stage {
public:
  struct work {
    std::string key;
    std::string text;
    uint32_t most = 0;
    /// What the work must hold.
    planning::needed_work needs;
    /// The questions: near work, and whether any work is as near as `hit_from`.
    bool near = false;
    bool hit_likely = false;
    double hit_from = 0;
    /// The predictor to ask or to teach.
    planning::predicted_from predicts = planning::predicted_from::nothing;
    /// The number of predicted misses for which this one would stand, if the
    /// search is made; 0: it is not searched for, or not counted.
    uint32_t stands_for = 0;
    /// Less similar work does not exist for the request.
    float least = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.key, x.text, x.most, x.needs, x.near, x.hit_likely, x.hit_from,
               x.predicts, x.stands_for, core::as_inspected(x.least));
    }
  };

  struct done {
    /// The questions that were asked.
    bool tells_near = false;
    bool tells_hit = false;
    /// Best first.
    std::vector<planning::match> near;
    bool hit_likely = false;
    /// Whether the search checked a prediction, and which.
    bool tells_prediction = false;
    planning::checked_prediction prediction;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.tells_near, x.tells_hit, x.near, x.hit_likely,
               x.tells_prediction, x.prediction);
    }
  };

  /// @param predicts null: there is no predictor
  /// @param budget, budget_share bounds on the time of a search: absolute, and
  ///        as a share of the time until a request's deadline
  /// @param fresh the share of requests, 0..1, that are not searched for, so
  ///        that they are drawn in full
  search_stage(std::shared_ptr<index::kept_work> kept,
               std::shared_ptr<index::match_prediction> predicts,
               core::timespan budget, double budget_share, double fresh = 0);

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& of) const;
  core::timespan takes(const work& order, const planning::profile& costs) const;
  core::result<done> run(const work& order,
                         planning::worker_context& here) const;
  core::result<void> end(const done& found, planning::facts& known) const;

private:
  /// Teaches the predictor the outcome of a search, and checks it.
  void learn(const work& order, bool hit, done& found) const;

  std::shared_ptr<index::kept_work> kept_;
  std::shared_ptr<index::match_prediction> predicts_;
  double fresh_;
  planning::stage_row row_;
};

} // namespace atelier::actors
