// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/planning/stage.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::actors {

/// Finds earlier work that is near a request, and whether a search would
/// succeed, if its policy asks for either. Nearness is what the cache compares
/// (kept_work::compares): unless a host's cache is in use, the similarity of
/// two prompts, for an image of the prompt by which it was drawn. So it does
/// not answer a policy whose thresholds are for images. If it is late or fails,
/// the request continues without its result. Threads: any.
class search_stage {
public:
  struct work {
    std::string key;
    std::string text;
    uint32_t most = 0;
    /// The questions: near work, and whether any work is as near as `hit_from`.
    bool near = false;
    bool hit_likely = false;
    double hit_from = 0;
    /// Less similar work does not exist for the request.
    float least = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.key, x.text, x.most, x.near, x.hit_likely, x.hit_from,
               core::as_inspected(x.least));
    }
  };

  struct done {
    /// The questions that were asked.
    bool tells_near = false;
    bool tells_hit = false;
    /// Best first.
    std::vector<planning::match> near;
    bool hit_likely = false;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.tells_near, x.tells_hit, x.near, x.hit_likely);
    }
  };

  /// @param budget, budget_share bounds on the time of a search: absolute, and
  ///        as a share of the time until a request's deadline
  search_stage(std::shared_ptr<index::kept_work> kept, core::timespan budget,
               double budget_share);

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& of) const;
  core::timespan takes(const work& order, const planning::profile& costs) const;
  core::result<done> run(const work& order,
                         planning::worker_context& here) const;
  core::result<void> end(const done& found, planning::facts& known) const;

private:
  std::shared_ptr<index::kept_work> kept_;
  planning::stage_row row_;
};

} // namespace atelier::actors
