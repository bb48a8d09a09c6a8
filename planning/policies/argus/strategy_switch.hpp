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

/// The rules for changing from cached latents to smaller models and back.
/// Source: Argus, section 4.6, which states neither thresholds nor rates.
struct switch_rules {
  /// The number of retrievals in the median.
  size_t window = 20;
  /// Leave when retrieving takes longer than this fraction of what it saves.
  double leave_share = 0.5;
  /// Leave after this number of consecutive retrievals that timed out.
  uint32_t timeouts = 3;
  /// The number of probes that must all be fast, and the time between two.
  size_t probes = 10;
  core::timespan between_probes = std::chrono::seconds{1};
  /// Return when probes take less than this fraction of what they save. At .1
  /// the cache of the published testbed, 100 ms for 5 of 50 steps that save 420
  /// ms, would never be searched again.
  double return_share = 0.3;
  /// The minimum number of skipped steps for these fractions, and the number
  /// for probes.
  double least_skip = 5;
  /// The minimum time that smaller models run before a return.
  core::timespan stay = std::chrono::seconds{60};

  friend bool operator==(const switch_rules&, const switch_rules&) = default;
};

/// The phase of the change.
enum class switch_phase : uint8_t {
  /// Cached latents are in use.
  latents,
  /// The full model, which every worker hosts, runs in full; smaller models are
  /// loading.
  leaving,
  /// Smaller models are in use; probes retrieve.
  models,
  /// Smaller models are in use; every worker loads the full one.
  returning,
};

std::string_view to_string(switch_phase x);

struct switch_state {
  switch_phase phase = switch_phase::latents;
  core::time_point since;
  /// The seconds of the last retrievals or, while smaller models run, of
  /// probes, oldest first.
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

/// The savings of the levels in use.
struct switch_scale {
  /// The seconds of one full run of the full model.
  double full_seconds = 0;
  uint32_t steps = 50;
  /// The number of steps that the mean request skips.
  double mean_skip = 0;

  friend bool operator==(const switch_scale&, const switch_scale&) = default;
};

/// Adds a retrieval. Returns whether the phase changed: to `leaving` at once if
/// retrieval no longer pays, to `returning` if all probes were fast and smaller
/// models ran long enough.
bool note_retrieval(switch_state& state, const retrieval& what,
                    const switch_scale& scale, core::time_point now,
                    const switch_rules& rules = {});

/// Ends the wait of a phase: smaller models run as planned (leaving -> models),
/// or every worker hosts the full one (returning -> latents). Returns whether
/// the phase changed.
bool all_loaded(switch_state& state, core::time_point now);

/// Returns the time between two probes, which retrieve although no request
/// does: while smaller models run, and while no level in use skips a step. 0:
/// no probe is needed.
core::timespan probe_every(const switch_state& state, const switch_scale& scale,
                           const switch_rules& rules = {});

/// Returns whether requests may start from cached latents now.
bool may_use_cache(switch_phase phase);

} // namespace atelier::planning::argus
