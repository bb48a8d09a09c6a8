// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/planning/stage.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace atelier::actors {

/// Keeps the results of an answered request's route for later requests: the
/// captured states, its image, or both. Only results that a search can find are
/// kept: states of runs by the variant that draws from scratch, images of the
/// size at which that variant draws, and neither of a request with parameters
/// of its own, as only requests without them are searched for. Reuse is chained
/// up to a bound, and what a request made of work for its own prompt is not
/// kept: each generation loses quality, and the copies would displace other
/// work.
///
/// Threads: any.
class remember_stage {
public:
  struct work {
    std::string key;
    std::string text;
    /// These select what is kept.
    bool states = false;
    bool image = false;
    core::latent_shape latent;
    core::extent px;
    uint32_t depth = 0;
    core::tenant_id tenant;
    uint64_t seed = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.key, x.text, x.states, x.image, x.latent, x.px, x.depth,
               x.tenant, x.seed);
    }
  };

  struct done {
    bool kept = false;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.kept);
    }
  };

  /// @param most_depth how many times reuse may be chained in what is kept
  remember_stage(std::shared_ptr<index::kept_work> kept, uint32_t most_depth);

  const planning::stage_row& row() const;

  std::optional<work> begin(const planning::row_view& of) const;
  core::timespan takes(const work& order, const planning::profile& costs) const;
  core::result<done> run(const work& order,
                         planning::worker_context& here) const;
  core::result<void> end(const done& told, planning::facts& known) const;

private:
  std::shared_ptr<index::kept_work> kept_;
  uint32_t most_depth_;
};

} // namespace atelier::actors
