// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/planning/reuse/thresholds.hpp>
#include <atelier/planning/route.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace atelier::planning::nirvana {

/// Steps of the run that skips are counted of, N.
/// Source: Nirvana, section 7.1.
inline constexpr uint32_t reference_steps = 50;

/// Mean quality of resumed pictures relative to full ones: a CLIPScore of 28.81
/// against 30.28 where 88 % were resumed.
/// Source: Nirvana, Table 1 and Figure 15.
inline constexpr double resumed_quality = 0.945;

/// Mean quality of pictures that are answered as they were found, relative to
/// full ones: CLIPScores of 25.84, 24.83 and 24.05 of GPT-CACHE, PINECONE and
/// CRS against 30.28. How many of their requests found one is not stated; this
/// takes all, so that it is an upper bound.
/// Source: Nirvana, Table 1.
inline constexpr double found_quality = 0.823;

/// Share of requests that start from scratch whatever the cache holds, so that
/// the cache does not narrow. Its value is not stated there.
/// Source: Nirvana, section 9.
inline constexpr double fresh_share = 0.02;

/// Neighbours that the default looks at; the paper takes the nearest alone.
inline constexpr size_t neighbours = 8;

/// Returns the thresholds of similarity between CLIP embeddings of prompts; a
/// similarity must lie above them.
/// Source: Nirvana, Figure 10.
skip_table published_table();

/// Returns the table for runs of `steps`: floor(K steps / 50); what becomes 0
/// is dropped, of equal skips the lowest threshold stays.
skip_table scaled_to(const skip_table& table, uint32_t steps);

/// Returns the table with every threshold `bias` lower: more is skipped.
/// Source: Nirvana, section 5.3 names the knob, not its form.
skip_table biased(skip_table table, double bias);

/// Where a request resumes.
struct resume_point {
  /// Index into the matches.
  size_t match = 0;
  /// Skip that the similarity allows, and the one that is stored: the largest
  /// no larger.
  uint32_t wished = 0;
  uint32_t used = 0;

  friend bool operator==(const resume_point&, const resume_point&) = default;
};

/// Returns where to resume from the nearest match alone, ignoring what it has
/// lost: its largest stored state no later than allowed. Nothing: from scratch.
/// @pre matches come nearest first
/// Source: Nirvana, sections 5.3 and 5.4.
std::optional<resume_point> resume_nearest(std::span<const match> near,
                                           const skip_table& table);

/// Returns the resume point that skips most among the first eight matches, each
/// within its own similarity's bound; of equal ones the nearest. Never skips
/// fewer steps than resume_nearest.
std::optional<resume_point> resume_furthest(std::span<const match> near,
                                            const skip_table& table);

/// Whether a request starts from scratch to keep the cache diverse. Takes one
/// uniform number.
bool starts_fresh(core::philox& random, double share = fresh_share);

} // namespace atelier::planning::nirvana
