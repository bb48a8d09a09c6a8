// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/shape.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/planning/stage.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace atelier::actors {

/// Writes earlier work into a request's slots: a state after some steps, in
/// place of the noise with which a leg would begin; or an image, as the source
/// from which a leg starts or as the pixels with which a route without legs
/// answers. Nothing is published unchecked: its bytes must be those that were
/// kept, of the size that the run needs, and all numbers must be finite. If it
/// fails, the policy chooses again without that entry.
/// Threads: any.
class fetch_stage {
public:
  struct work {
    uint64_t entry = 0;
    /// A state, a source or pixels.
    planning::held slot = planning::held::state;
    /// The number of steps that the request skips: those after which the state
    /// was left; with an image as the answer, all of them.
    uint32_t steps = 0;
    /// The shape of a state.
    core::latent_shape latent;
    /// The size at which an image was drawn.
    core::extent px;
    /// These are set for a source, as in drawn_source.
    core::extent scaled_to;
    core::extent into_px;
    core::extent answered;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.entry, x.slot, x.steps, x.latent, x.px, x.scaled_to, x.into_px,
               x.answered);
    }
  };

  /// The result is only in the slot.
  struct done {
    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done&) {
      return f();
    }
  };

  explicit fetch_stage(std::shared_ptr<index::kept_work> kept);

  const planning::stage_row& row() const;

  std::optional<work> begin(const planning::row_view& of) const;
  core::timespan takes(const work& order, const planning::profile& costs) const;
  core::result<done> run(const work& order,
                         planning::worker_context& here) const;
  core::result<void> end(const done& fetched, planning::facts& known) const;

private:
  std::shared_ptr<index::kept_work> kept_;
};

} // namespace atelier::actors
