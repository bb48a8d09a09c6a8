// SPDX-License-Identifier: Apache-2.0
#pragma once

// This header declares a search over all schedules of a few requests and a few
// slots. It finds out whether requests on a pipeline can deadlock, waiting for
// each other's slots.

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
  planning::route route;
  bool brings_image = false;
};

/// The assumptions of a search in addition to the rows of the pipeline. The
/// defaults are the rules of pipeline::granted and reserve for a scheduler;
/// other values show the effect of breaking these rules.
struct search_rules {
  /// Returns the slots that must stay free when a stage is granted its slots;
  /// empty: the pipeline's own reserve. To search a stage that writes slots
  /// which its row does not name, pass the reserve of the pipeline that the
  /// rows describe.
  std::function<slot_counts(const route&, pipeline::position, bool)> reserve =
    {};
  /// The slots that must stay free are required only of kinds that the stage
  /// takes.
  bool kinds_apart = false;
  /// Stages wait for the slots of their captures.
  bool waits_for_captures = false;
  /// A search that has found more states than this stops and returns nothing.
  size_t most_states = 1'000'000;
};

/// Returns a shortest schedule that gets stuck, as text: a line for each stage
/// that is granted slots, then a line for each request that waits for ever.
/// Returns nothing if no schedule gets stuck.
///
/// A schedule is any order in which
/// - a request is granted the slots of its next stage if as many slots stay
///   free as the pipeline reserves; a slot for files that the stage reads is
///   one of the reserved ones, and is released when the stage ends;
/// - a stage keeps states for later requests, as many of those that the leg
///   names as free slots allow, or fewer;
/// - a stage ends, and releases the slots that it replaced;
/// - a leg ends, and releases its states and its source; if it has a gate,
///   either the next leg or the answer follows;
/// - a request is answered, and releases everything except its encoded file and
///   the states that it keeps for later requests; the client takes the file,
///   and the stages after the answer release the states, at any moment.
///
/// The search excludes requests that fail or are cancelled, as they only
/// release slots; requests whose worker dies, as they wait as before; and legs
/// that fail if a later one runs in their place.
/// @pre every request can run by itself: `there` has the slots of
/// pipeline::least
std::optional<std::string> stuck_schedule(const pipeline& stages,
                                          const std::vector<searched_row>& rows,
                                          const slot_counts& there,
                                          const search_rules& rules = {});

/// Searches requests of several routes, three at a time, in about the minimum
/// number of slots that they can run with. If a host added stages, its pipeline
/// must pass this check before an engine starts with it.
///
/// This is a check and not a proof: more requests, longer routes, or stages
/// that distinguish legs by properties that these routes lack may still get
/// stuck; and the search does not see slots that a stage writes but its row
/// does not name. Small counts represent large ones, since a deadlock occurs
/// when slots run out: fewer slots need fewer requests. A search that grows too
/// large is stopped, and counts as passed.
/// Errors: ec::bad_config: a schedule gets stuck, and the text has it; a stage
/// before the route or after the answer writes a slot, as none is granted
/// there; the plainest request needs more slots than `there` has.
core::result<void> check(const pipeline& stages, const slot_counts& there);

} // namespace atelier::planning
