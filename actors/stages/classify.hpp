// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/gpu/models/judge/prompt_classifier.hpp>
#include <atelier/planning/stage.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::actors {

/// Opens the classifier of prompts, on a worker.
using classifier_loader =
  std::function<core::result<std::shared_ptr<const gpu::prompt_classifier>>()>;

/// Finds which level of each of the profile's ladders a prompt tolerates, by
/// the rule of planning::argus::tolerated_level over the qualities that a
/// classifier expects. The classifier is asked about levels that are whole
/// variants. A prompt does not tolerate a level if the classifier knows no
/// variant of its name, or if the level leaves out steps; if that is the first
/// level, the prompt tolerates no other.
/// Threads: any; prompts are classified one at a time.
class classify_stage {
public:
  struct level {
    std::string variant;
    uint32_t skip = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, level& x) {
      return f(x.variant, x.skip);
    }
  };

  struct ladder {
    std::vector<level> levels;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, ladder& x) {
      return f(x.levels);
    }
  };

  struct work {
    std::string text;
    std::vector<ladder> ladders;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.text, x.ladders);
    }
  };

  struct done {
    /// By ladder.
    std::vector<uint32_t> tolerated;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.tolerated);
    }
  };

  /// @param load called once, by the first order; its error becomes the error
  ///        of that order and of all later ones. Null: no classifier exists,
  ///        and no order is made.
  /// @param budget,share as in stage_row
  classify_stage(classifier_loader load, core::timespan budget, double share);

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& row) const;

  /// Source: Argus, section 4.1: "a few milliseconds".
  core::timespan takes(const work& order, const planning::profile& costs) const;

  /// Errors: those of loading and of classifying.
  core::result<done> run(const work& order,
                         planning::worker_context& here) const;

  core::result<void> end(const done& outcome, planning::facts& known) const;

private:
  struct loaded;

  planning::stage_row row_;
  bool classifies_ = false;
  std::shared_ptr<loaded> loaded_;
};

} // namespace atelier::actors
