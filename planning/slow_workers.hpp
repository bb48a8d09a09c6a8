// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>

#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atelier::planning {

/// The shape of a run of steps: runs of one shape take the same time on devices
/// of one kind.
struct run_shape {
  /// The first variant with the weights that ran (grouping.hpp).
  core::variant_id weights;
  uint32_t batch = 1;
  uint64_t pixels = 0;
  /// As worker_view::device_kind.
  std::string kind{};

  friend auto operator<=>(const run_shape&, const run_shape&) = default;
};

/// Finds the workers that take several times as long as the others for the same
/// steps, as a worker does that shares its device with another program. Pure,
/// without a clock. It compares the medians of the last runs with the same
/// weights, batch, size and kind of device. Runs older than `remembered` are
/// ignored, so that a worker that gets little work because it was slow is tried
/// again.
class slow_workers {
public:
  /// A worker becomes slow at `slow_from` times the time of the others, and is
  /// no longer slow below `slow_until` times; in between its state does not
  /// change.
  static constexpr double slow_from = 3;
  static constexpr double slow_until = 2;
  static constexpr core::timespan remembered = std::chrono::minutes{10};

  /// Notes the duration of one step of a run.
  void ran(core::worker_id worker, const run_shape& what, core::timespan step,
           core::time_point now);

  /// Forgets a worker that has left.
  void gone(core::worker_id worker);

  /// Returns the slow workers, by rising id, if they differ from those of the
  /// last result; otherwise nothing. It compares at most once a second.
  std::optional<std::vector<core::worker_id>> news(core::time_point now);

private:
  struct sample {
    core::time_point time;
    double seconds = 0;
  };

  using samples = std::deque<sample>;
  using workers = std::map<core::worker_id, samples>;

  /// Returns, by worker, the ratio of its time to that of the others for each
  /// shape.
  std::map<core::worker_id, std::vector<double>> compared(core::time_point now);

  std::map<run_shape, workers> seen_;
  std::vector<core::worker_id> told_;
  core::time_point looked_{};
  bool anew_ = false;
};

} // namespace atelier::planning
