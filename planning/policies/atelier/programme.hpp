// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace atelier::planning::unified {

/// Requests that a plan treats alike.
struct request_class {
  std::string name;
  /// Requests a second, head-room and backlog included.
  double rate = 0;
  /// Mean quality that its answers should keep.
  double floor = 0;
  /// What refusing one weighs.
  double weight = 1;
};

struct device_kind {
  std::string name;
  uint32_t alive = 0;
};

/// Devices of a kind with the same variants.
struct hosting {
  uint32_t kind = 0;
  /// Devices that have them now.
  uint32_t now = 0;
  /// Making ready one that does not.
  double load_seconds = 0;
};

/// Devices of a hosting that run batches of one size and keep requests waiting
/// no longer than a budget.
struct pool {
  uint32_t of = 0;
  /// Rows of a batch: a device is that many servers.
  uint32_t seats = 1;
  /// The mean wait that its budget allows, in services; infinite: `busy` holds
  /// however many devices there are.
  double wait = std::numeric_limits<double>::infinity();
  /// The share of the time that its devices may be busy at most.
  double busy = 1;
};

/// What a request takes of a pool, in seconds of one device.
struct pool_work {
  uint32_t pool = 0;
  double seconds = 0;
};

/// One way to answer a class: a route with its legs bound to pools.
struct column {
  uint32_t of = 0;
  /// What it is for the caller.
  uint32_t key = 0;
  /// Mean quality of its answers.
  double quality = 0;
  /// From scratch, and kept: what later requests can be started from.
  bool fresh = false;
  /// Set: the quality of this mix counts in the objective, not `quality`.
  std::optional<uint32_t> mix{};
  /// The share of its answers that the mix's light variant makes.
  double light = 0;
  std::array<pool_work, 3> work{};
  uint32_t legs = 0;

  std::span<const pool_work> works() const {
    return {work.data(), legs};
  }
};

/// The quality of a mix is at most light * answers of the light variant + all *
/// answers.
struct mix_segment {
  double light = 0;
  double all = 0;
};

/// Answers whose quality depends on how many of them are light ones: a concave
/// function of that share, by its segments.
struct mix {
  std::vector<mix_segment> segments;
};

/// What one solve is asked for.
struct problem {
  std::vector<request_class> classes;
  std::vector<device_kind> kinds;
  std::vector<hosting> hostings;
  std::vector<pool> pools;
  std::vector<column> columns;
  std::vector<mix> mixes;
  /// Seconds that the plan is made for: a load takes its part of them.
  double period = 60;
  /// Quality a second that a second of loading within the period is worth.
  double load_price = 0;
  /// Share of each class that should be answered fresh.
  double fresh = 0;
};

/// What is made small or large, each only where the ones before stay.
struct phase_values {
  /// Requests a second that are refused, weighed.
  double refused = 0;
  /// Quality a second below the floors, and requests a second that should have
  /// been fresh.
  double shortfall = 0;
  /// Quality a second, less what loads cost.
  double gain = 0;

  friend bool operator==(const phase_values&, const phase_values&) = default;
};

/// Whether `a` is better than `b` by more than noise.
bool better(const phase_values& a, const phase_values& b);

struct decision {
  /// By pool: its devices.
  std::vector<uint32_t> count;
  /// By column: requests a second.
  std::vector<double> taken;
  /// By class: requests a second that are refused.
  std::vector<double> refused;
  phase_values values;
  /// The same with parts of devices allowed: no plan does better.
  phase_values bound;
  /// By pool: what a second of its devices is worth, in quality; 0 where it has
  /// none.
  std::vector<double> price;
  /// By kind: what one more device would gain, in the first phase that is not
  /// met in full, else in quality a second.
  std::vector<double> worth;
  /// Programmes solved, and columns that were looked at closely.
  uint32_t solves = 0;
  uint32_t generated = 0;
};

/// Returns how busy a pool's devices may be if there are `count` of them.
double busy_of(const pool& p, double count);

/// Returns the knots of the concave envelope of (share, quality) points, by
/// rising share: at most `most` of them, always the first and the last.
std::vector<std::pair<double, double>> envelope(
  std::vector<std::pair<double, double>> points, size_t most);

/// Returns the segments of a concave function that `envelope` gave, its first
/// coordinate the light share.
std::vector<mix_segment> segments_of(
  std::span<const std::pair<double, double>> knots);

} // namespace atelier::planning::unified
