// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/planning/reuse/scaled_table.hpp>
#include <atelier/planning/route.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace atelier::planning::nirvana {

/// The number of steps of the run that skips refer to, N.
/// Source: Nirvana, section 7.1.
inline constexpr uint32_t reference_steps = table_steps;

/// The mean quality of resumed images relative to full ones: a CLIPScore of
/// 28.81 compared with 30.28, with 88 % resumed.
/// Source: Nirvana, Table 1 and Figure 15.
inline constexpr double resumed_quality = 0.945;

/// The mean quality of images that are returned as they were found, relative to
/// full ones: CLIPScores of 25.84, 24.83 and 24.05 of GPT-CACHE, PINECONE and
/// CRS compared with 30.28. The paper does not state how many of their requests
/// found one; this value assumes all, so it is an upper bound.
/// Source: Nirvana, Table 1.
inline constexpr double found_quality = 0.823;

/// The fraction of requests that start from noise whatever the cache holds, so
/// that the cache does not narrow. The paper does not state its value.
/// Source: Nirvana, section 9.
inline constexpr double fresh_share = 0.02;

/// The number of neighbours that the default examines; the paper takes only the
/// nearest.
inline constexpr size_t neighbours = 8;

/// Returns the thresholds of similarity between CLIP embeddings of prompts; a
/// similarity must be above them.
/// Source: Nirvana, Figure 10.
skip_table published_table();

/// The point where a request resumes.
struct resume_point {
  /// The index into the matches.
  size_t match = 0;
  /// The skip that the similarity allows, and the largest stored skip that does
  /// not exceed it.
  uint32_t wished = 0;
  uint32_t used = 0;

  friend bool operator==(const resume_point&, const resume_point&) = default;
};

/// Returns the resume point of the nearest match only, ignoring the states that
/// it has lost: its largest stored state no later than allowed. Nothing: start
/// from noise.
/// @pre matches are sorted, nearest first
/// Source: Nirvana, sections 5.3 and 5.4.
std::optional<resume_point> resume_nearest(std::span<const match> near,
                                           const skip_table& table);

/// Returns the resume point that skips most among the first eight matches, each
/// within the bound of its own similarity; among equal ones the nearest. It
/// never skips fewer steps than resume_nearest.
std::optional<resume_point> resume_furthest(std::span<const match> near,
                                            const skip_table& table);

/// Returns whether a request starts from noise to keep the cache diverse. Takes
/// one uniform number.
bool starts_fresh(core::philox& random, double share = fresh_share);

} // namespace atelier::planning::nirvana
