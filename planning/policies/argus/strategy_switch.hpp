// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/planning/policies/argus/ladder.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace atelier::planning::argus {

/// When to change from cached latents to smaller models and back.
/// Source: Argus, section 4.6, which states neither thresholds nor rates.
struct switch_rules {
  /// Retrievals that the median is taken of.
  size_t window = 20;
  /// Leave when retrieving takes longer than this share of what it saves.
  double leave_share = 0.5;
  /// Running retrievals that timed out, one after the other.
  uint32_t timeouts = 3;
  /// Probes that must all be quick, and the time between two.
  size_t probes = 10;
  core::timespan between_probes = std::chrono::seconds{1};
  /// At .1 the cache of the published testbed, 100 ms for 5 of 50 steps that
  /// save 420 ms, would never be searched again.
  double return_share = 0.3;
  /// Skipped steps that shares are taken of at least, and of which probes are.
  double least_skip = 5;
  /// No return before smaller models ran for this long.
  core::timespan stay = std::chrono::seconds{60};

  friend bool operator==(const switch_rules&, const switch_rules&) = default;
};

/// Where the change stands.
enum class switch_phase : uint8_t {
  /// Cached latents in use.
  latents,
  /// Full runs of the full model, which every worker has; smaller ones load.
  leaving,
  /// Smaller models in use; probes retrieve.
  models,
  /// Smaller models in use; every worker loads the full one.
  returning,
};

std::string_view to_string(switch_phase x);

struct switch_state {
  switch_phase phase = switch_phase::latents;
  core::time_point since;
  /// Seconds of the last retrievals or, while smaller models run, of probes,
  /// oldest first.
  std::vector<double> seconds;
  uint32_t timeouts = 0;

  friend bool operator==(const switch_state&, const switch_state&) = default;
};

/// One retrieval, of a request or of a probe.
struct retrieval {
  double seconds = 0;
  /// It timed out, or the index or its store is down.
  bool failed = false;
};

/// What the levels of the moment save.
struct switch_scale {
  /// One full run of the full model.
  double full_seconds = 0;
  uint32_t steps = 50;
  /// Steps skipped by the mean request.
  double mean_skip = 0;

  friend bool operator==(const switch_scale&, const switch_scale&) = default;
};

/// Adds a retrieval. Returns whether the phase changed: to `leaving` at once
/// where retrieval no longer pays, to `returning` where all probes were quick
/// and smaller models ran long enough.
bool note_retrieval(switch_state& state, const retrieval& what,
                    const switch_scale& scale, core::time_point now,
                    const switch_rules& rules = {});

/// Tells that what the phase waits for has happened: smaller models run as
/// planned (leaving -> models), or every worker has the full one (returning ->
/// latents). Returns whether the phase changed.
bool all_loaded(switch_state& state, core::time_point now);

/// Returns the time between two probes, which retrieve although no request
/// does: while smaller models run, and while no level in use skips a step. 0:
/// no probe is wanted.
core::timespan probe_every(const switch_state& state, const switch_scale& scale,
                           const switch_rules& rules = {});

/// Returns which strategy's ladder, classifier and histogram apply.
strategy strategy_of(switch_phase phase);

/// Whether requests may start from cached latents now.
bool may_use_cache(switch_phase phase);

} // namespace atelier::planning::argus
