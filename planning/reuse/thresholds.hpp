// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace atelier::planning {

/// From this similarity on, `skip` steps are skipped.
struct skip_threshold {
  uint32_t skip = 0;
  double similarity = 0;

  friend bool operator==(const skip_threshold&,
                         const skip_threshold&) = default;
};

/// By rising skip; similarity never falls.
using skip_table = std::vector<skip_threshold>;

enum class threshold_rule : uint8_t {
  /// s >= threshold.
  from,
  /// s > threshold.
  above,
};

/// Returns the largest number of steps that `similarity` allows to skip; 0:
/// start from noise. NaN allows none.
uint32_t allowed_skip(const skip_table& table, double similarity,
                      threshold_rule rule);

/// One measured reuse: the similarity of the found image, and the quality kept.
struct reuse_sample {
  double similarity = 0;
  double kept = 0;
};

/// Returns the lowest similarity of a sample that kept at least `alpha`.
/// Source: Nirvana, Algorithm 2, as published: a single lucky sample decides.
std::optional<double> lowest_that_kept(std::span<const reuse_sample> samples,
                                       double alpha);

/// A range of similarities with one mean of kept quality.
struct kept_block {
  /// The lowest similarity of its samples.
  double from = 0;
  double mean = 0;
  /// The one-sided 95 % lower bound of the mean.
  double low = 0;
  size_t samples = 0;
};

/// Fits a mean of kept quality that never falls with similarity, and is one
/// for samples of equal similarity: by the pool adjacent violators algorithm,
/// after which neighbours are joined until each has `least` samples.
std::vector<kept_block> isotonic(std::vector<reuse_sample> samples,
                                 size_t least = 20);

/// Returns the smallest similarity from which on every block's lower bound is
/// at least `alpha`; nothing: this skip must not be used.
std::optional<double> reliable_from(std::vector<reuse_sample> samples,
                                    double alpha);

/// Returns a table of the skips that have a threshold; a larger skip never has
/// a lower threshold than a smaller one.
skip_table rising_table(
  std::vector<std::pair<uint32_t, std::optional<double>>> found);

} // namespace atelier::planning
