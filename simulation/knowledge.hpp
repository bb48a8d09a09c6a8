// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/interfaces.hpp>
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

/// Stands for classifier and retriever: what they would find is drawn from the
/// scenario, by seed and request, after the profile's time for it.
/// Threads: those that call it and its timers must be one at a time.
class simulated_knowledge : public actors::fact_finder {
public:
  /// @pre `of` and `lacks` outlive this
  simulated_knowledge(const scenario& of, unmeasured& lacks,
                      std::shared_ptr<core::timers> timers,
                      std::shared_ptr<ipc::slot_store> slots,
                      core::time_point begin);

  /// From now on what is near comes from `cache`, which outlives this.
  void search(simulated_cache& cache) {
    cache_ = &cache;
  }

  void connect(actors::scheduler_actor hub);
  void clear();

  void find(std::shared_ptr<const core::request> of, planning::need wanted,
            uint32_t question) override;

  /// Gives what is near, unless the cache has lost it since the search: every
  /// simulated picture has the size that is asked for.
  bool give_picture(uint64_t entry, core::extent px,
                    ipc::slot_ref into) override;

  /// Gives what was found, as far along as it is asked for.
  bool give_state(uint64_t entry, uint32_t steps, ipc::slot_ref into) override;

private:
  bool strikes(fault_kind kind, double& factor) const;
  std::vector<planning::match> near(const core::request& of,
                                    planning::compared by);
  std::vector<uint32_t> labels_of(const core::request& of);
  bool hit_likely(const core::request& of,
                  const std::vector<planning::match>& found);

  const scenario& of_;
  unmeasured& lacks_;
  std::shared_ptr<core::timers> timers_;
  std::shared_ptr<ipc::slot_store> slots_;
  core::time_point begin_;
  actors::scheduler_actor hub_;
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
