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
  /// Requests per second, including headroom and backlog.
  double rate = 0;
  /// The mean quality that its answers should keep.
  double floor = 0;
  /// The weight of refusing one request.
  double weight = 1;
};

struct device_kind {
  std::string name;
  uint32_t alive = 0;
};

/// Devices of a kind that host the same variants.
struct hosting {
  uint32_t kind = 0;
  /// The number of devices that host them now.
  uint32_t now = 0;
  /// The seconds for preparing a device that does not.
  double load_seconds = 0;
};

/// Devices of a hosting that run batches of one size and keep requests waiting
/// no longer than a budget.
struct pool {
  uint32_t of = 0;
  /// The rows of a batch: a device counts as that many servers.
  uint32_t seats = 1;
  /// The mean wait that its budget allows, in services; infinite: `busy`
  /// applies to any number of devices.
  double wait = std::numeric_limits<double>::infinity();
  /// The maximum fraction of the time for which its devices may be busy.
  double busy = 1;
};

/// The work of a request in a pool, in seconds of one device.
struct pool_work {
  uint32_t pool = 0;
  double seconds = 0;
};

/// An option for answering a class: a route with its legs bound to pools.
struct column {
  uint32_t of = 0;
  /// The caller's identifier of the column.
  uint32_t key = 0;
  /// The mean quality of its answers.
  double quality = 0;
  /// The answers are drawn from noise and kept, so that later requests can
  /// start from them.
  bool fresh = false;
  /// If set, the objective counts the quality of this mix instead of `quality`.
  std::optional<uint32_t> mix{};
  /// The fraction of its answers that the mix's light variant makes.
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

/// Answers whose quality depends on how many of them are light: a concave
/// function of that fraction, by its segments.
struct mix {
  std::vector<mix_segment> segments;
};

/// The input of one solve.
struct problem {
  std::vector<request_class> classes;
  std::vector<device_kind> kinds;
  std::vector<hosting> hostings;
  std::vector<pool> pools;
  std::vector<column> columns;
  std::vector<mix> mixes;
  /// The seconds that the plan is made for; loads take part of this time.
  double period = 60;
  /// The quality per second that a second of loading within the period costs.
  double load_price = 0;
  /// The fraction of each class that should be answered from noise and kept.
  double fresh = 0;
};

/// The values of the phases. Each is optimised only as far as the earlier ones
/// keep their values.
struct phase_values {
  /// The refused requests per second, weighted.
  double refused = 0;
  /// The quality per second below the floors, plus the requests per second that
  /// should have been fresh.
  double shortfall = 0;
  /// Quality per second, less the cost of loads.
  double gain = 0;

  friend bool operator==(const phase_values&, const phase_values&) = default;
};

/// Returns whether `a` is better than `b` by more than noise.
bool better(const phase_values& a, const phase_values& b);

struct decision {
  /// By pool: its number of devices.
  std::vector<uint32_t> count;
  /// By column: requests per second.
  std::vector<double> taken;
  /// By class: refused requests per second.
  std::vector<double> refused;
  phase_values values;
  /// The values if fractions of devices were allowed: no plan does better.
  phase_values bound;
  /// By pool: the value of a second of its devices, in quality; 0 if it has
  /// none.
  std::vector<double> price;
  /// By kind: the gain of one more device, in the first phase that is not fully
  /// met, otherwise in quality per second.
  std::vector<double> worth;
  /// The number of programs solved, and of columns examined closely.
  uint32_t solves = 0;
  uint32_t generated = 0;
};

/// Returns how busy a pool's devices may be if it has `count` of them.
double busy_of(const pool& p, double count);

/// Returns the knots of the concave envelope of (share, quality) points, by
/// rising share: at most `most` of them, always including the first and the
/// last.
std::vector<std::pair<double, double>> envelope(
  std::vector<std::pair<double, double>> points, size_t most);

/// Returns the segments of a concave function from `envelope` whose first
/// coordinate is the light share.
std::vector<mix_segment> segments_of(
  std::span<const std::pair<double, double>> knots);

} // namespace atelier::planning::unified
