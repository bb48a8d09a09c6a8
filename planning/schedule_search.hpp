// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether requests on a pipeline can come to wait for each other's slots for
// ever: a search over all schedules of a few requests and a few slots.

#include <atelier/core/result.hpp>
#include <atelier/planning/pipeline.hpp>
#include <atelier/planning/route.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace atelier::planning {

/// One request of a search.
struct searched_row {
  route along;
  bool brings_image = false;
};

/// What a search assumes beside the rows of the pipeline. The defaults are what
/// pipeline::granted and reserve ask of a scheduler; others show what becomes
/// of one that does otherwise.
struct search_rules {
  /// Returns what must stay free when a stage is granted its slots; empty: what
  /// the pipeline says itself. A stage that writes what its row does not say is
  /// searched by giving here the reserve of the pipeline that the rows pretend.
  std::function<slot_counts(const route&, pipeline::position, bool)> reserve =
    {};
  /// What must stay free is asked of the kinds alone of which a stage takes
  /// some.
  bool kinds_apart = false;
  /// Stages wait for the slots of what they capture.
  bool waits_for_captures = false;
  /// A search that has seen so many states gives up, and finds nothing.
  size_t most_states = 1'000'000;
};

/// Returns a shortest schedule that gets stuck, as text with a line for each
/// stage that is granted slots, then a line for each request that waits for
/// ever; or nothing, where no schedule gets stuck.
///
/// A schedule is any order in which
/// - a request is granted what its next stage takes, where as much stays free
///   as the pipeline reserves; a slot for files that the stage reads comes out
///   of that, and goes when the stage ends;
/// - a stage keeps states for later requests, as many of those that the leg
///   names as there is room for, or fewer;
/// - a stage ends, and gives back what it replaced;
/// - a leg ends, and gives back its states and its source; where it has a gate
///   the next leg follows or the answer;
/// - a request is answered, and gives back all but its encoded file and what it
///   keeps for later requests; the client takes the one, and the stages after
///   the answer do with the other, at any moment.
///
/// Not searched are requests that fail or are cancelled, as they only give
/// slots back; those whose worker dies, as they wait as before; and legs that
/// fail where a later one runs in their place.
/// @pre every request can run by itself: pipeline::least is there for it
std::optional<std::string> stuck_schedule(const pipeline& stages,
                                          const std::vector<searched_row>& rows,
                                          const slot_counts& there,
                                          const search_rules& rules = {});

/// Searches requests of several routes, three at a time, in about the fewest
/// slots that they can run with: what a pipeline must pass to which a host
/// added stages, before an engine starts with it.
///
/// It is a check and no proof: more requests, longer routes, or stages that
/// tell legs apart by what these routes have not, may still get stuck; and a
/// stage that writes what its row does not say is not seen. Small counts stand
/// for large ones since what gets stuck does so where slots run out: the fewer
/// there are, the fewer requests it takes. A search that grows too large is
/// given up, and counts as passed.
/// Errors: ec::bad_config: with the schedule that gets stuck; where a stage
///         before the route or after the answer writes a slot, as none is
///         granted there; where the plainest request needs more slots than
///         there are.
core::result<void> check(const pipeline& stages, const slot_counts& there);

} // namespace atelier::planning
