// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/planning/pipeline.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace atelier::planning {

/// The slots of a stage of a route (pipeline::granted, pipeline::reserve).
struct stage_slots {
  slot_counts granted = {};
  slot_counts reserve = {};
  /// The stage needs the request's files in a slot, which is one of those that
  /// stay free.
  bool reads_files = false;
};

/// The slots of all stages of a plan's routes, computed once: every dispatch
/// needs them. Immutable.
/// Threads: any.
class route_slots {
public:
  route_slots(const pipeline& stages, std::span<const route> routes);

  /// @pre the plan has the route, and a request on it waits for the stage in
  /// that leg
  const stage_slots& at(core::route_id along, pipeline::position at,
                        bool brings_image) const;

  /// Returns pipeline::least of a route.
  /// @pre the plan has the route
  const slot_counts& least(core::route_id along, bool brings_image) const;

private:
  /// Each without and with a source image.
  struct route_entry {
    /// By leg and stage.
    std::array<std::vector<stage_slots>, 2> at;
    std::array<slot_counts, 2> least;
  };

  size_t stages_;
  std::vector<route_entry> routes_;
};

} // namespace atelier::planning
