// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/ports.hpp>
#include <atelier/core/timers.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/policies/diffserve/deferral.hpp>
#include <atelier/simulation/scenario.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::runtime {

/// Returns the mask of a request, drawn by seed and request; none where it is
/// no edit.
std::optional<planning::mask_facts> edit_of(const scenario& of,
                                            core::request_id id);

/// Returns the mask of an image's request: the trace's, else the drawn one.
/// @pre the trace has one entry for each image
std::optional<planning::mask_facts> mask_of(const scenario& of,
                                            core::request_id image);

/// The first that decisions asked for and that nothing measured tells.
struct unmeasured {
  std::string what;

  void tell(std::string_view text) {
    if (what.empty())
      what = text;
  }
};

/// What the simulated world knows of requests, and what is kept of earlier
/// ones: drawn from the scenario, by seed and request, or from a cache that
/// fills. The stages of fact_stages.hpp answer from it. Threads: one at a time.
class simulated_knowledge : public actors::found_work {
public:
  /// @pre `of` and `lacks` outlive this
  simulated_knowledge(const scenario& of, unmeasured& lacks);

  /// The simulation begins: faults strike by this clock, and what is found is
  /// published in these slots. Before that nothing is asked.
  void begin(std::shared_ptr<core::timers> timers,
             std::shared_ptr<ipc::slot_store> slots);

  /// It is over: clock and slots are let go of, as the clock's actor must end
  /// before its system. Nothing is asked any more.
  void end();

  /// From now on what is near comes from `cache`, which outlives this.
  void search(simulated_cache& cache) {
    cache_ = &cache;
  }

  /// Returns what is near a request; a probe finds nothing.
  std::vector<planning::match> near(core::request_id of, bool probes,
                                    planning::compared by);

  /// Counts a search of a request with what it found just now.
  void searched(const std::vector<planning::match>& found);

  /// Whether a predictor says that a search would hit, where it finds this.
  bool hit_likely(core::request_id of,
                  const std::vector<planning::match>& found);

  /// Returns the level of each ladder that a classifier says a prompt
  /// tolerates.
  std::vector<uint32_t> labels_of(core::request_id of);

  /// Returns an image's mask, and whether its template is recorded now.
  planning::mask_facts mask(core::request_id image) const;

  /// Returns how long a search takes now.
  core::timespan searching() const;

  /// Whether nothing near is found now, nor told to be far.
  bool lost() const;

  /// Gives what is near, unless the cache has lost it since the search: every
  /// simulated picture has the size that is asked for.
  bool give_picture(uint64_t entry, core::extent px,
                    ipc::slot_ref into) override;

  /// Gives what was found, as far along as it is asked for.
  bool give_state(uint64_t entry, uint32_t steps, ipc::slot_ref into) override;

private:
  bool strikes(fault_kind kind, double& factor) const;

  const scenario& of_;
  unmeasured& lacks_;
  std::shared_ptr<core::timers> timers_;
  std::shared_ptr<ipc::slot_store> slots_;
  core::time_point begin_;
  simulated_cache* cache_ = nullptr;
  /// Every number of steps after which a latent is stored, rising.
  std::vector<uint32_t> stored_;
};

/// How pictures score: by the distribution of a cascade's judge over contents,
/// and uniformly where chance is the judge.
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
