// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/timers.hpp>
#include <atelier/planning/policies/diffserve/deferral.hpp>
#include <atelier/simulation/scenario.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::runtime {

/// Returns the mask of a request, drawn by seed and request; none if it is not
/// an edit.
std::optional<planning::mask_facts> edit_of(const scenario& of,
                                            core::request_id id);

/// Returns the mask of an image's request: the trace's, otherwise the drawn
/// one.
/// @pre the trace has one entry for each image
std::optional<planning::mask_facts> mask_of(const scenario& of,
                                            core::request_id image);

/// The first value that decisions asked for and no measurement provides.
struct unmeasured {
  std::string name;

  void tell(std::string_view text) {
    if (name.empty())
      name = text;
  }
};

/// What the simulated world knows of requests, and what is kept of earlier
/// ones: drawn from the scenario, by seed and request, or from a cache that
/// fills. The stages of fact_stages.hpp answer from it.
/// Threads: one at a time.
class simulated_knowledge {
public:
  /// @pre `of` and `lacks` outlive this
  simulated_knowledge(const scenario& of, unmeasured& lacks);

  /// Starts the simulation: faults strike by this clock. No question is asked
  /// before.
  void begin(std::shared_ptr<core::timers> timers);

  /// Ends the simulation: releases the clock, since its actor must end before
  /// its system. No question is asked afterwards.
  void end();

  /// From now on near work comes from `cache`, which outlives this.
  void search(simulated_cache& cache) {
    cache_ = &cache;
  }

  /// Returns the work near a request; a probe finds none.
  std::vector<planning::match> near(core::request_id of, bool probes,
                                    planning::compared by);

  /// Counts a search of a request and its result.
  void searched(const std::vector<planning::match>& found);

  /// Whether a predictor expects a search with this result to hit.
  bool hit_likely(core::request_id of,
                  const std::vector<planning::match>& found);

  /// Returns the level of each ladder that a classifier predicts a prompt to
  /// tolerate.
  std::vector<uint32_t> labels_of(core::request_id of);

  /// Returns an image's mask, and whether its template is recorded now.
  planning::mask_facts mask(core::request_id image) const;

  /// Returns how long a search takes now.
  core::timespan searching() const;

  /// Whether searches currently return nothing, not even that no work is near.
  bool lost() const;

  /// Uses the near image as an answer. Returns false if the cache has lost it
  /// since the search, or is lost itself.
  bool take_image(uint64_t entry);

private:
  bool strikes(fault_kind kind, double& factor) const;

  const scenario& of_;
  unmeasured& lacks_;
  std::shared_ptr<core::timers> timers_;
  core::time_point begin_;
  simulated_cache* cache_ = nullptr;
  /// The numbers of steps after which a latent is stored, ascending.
  std::vector<uint32_t> stored_;
};

/// Scores of images: by the distribution of a cascade's judge over contents,
/// and uniform for the random judge.
class simulated_scores {
public:
  /// @pre `of` and `lacks` outlive this
  simulated_scores(const scenario& of, unmeasured& lacks);

  double operator()(core::request_id id, const std::string& judge) const;

private:
  const scenario& of_;
  unmeasured& lacks_;
  std::vector<std::pair<std::string, planning::diffserve::deferral_profile>>
    tables_;
};

} // namespace atelier::runtime
