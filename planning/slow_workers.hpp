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

/// What a run of steps was: runs alike take alike on devices of one kind.
struct run_shape {
  core::variant_id variant;
  uint32_t batch = 1;
  uint64_t pixels = 0;
  /// As worker_view::device_kind.
  std::string kind{};

  friend auto operator<=>(const run_shape&, const run_shape&) = default;
};

/// Which workers take several times as long as the others for the same steps,
/// as one does that shares its device with a neighbour; pure, no clock. Only
/// like is compared with like: the medians of the last runs of one variant,
/// batch, size and kind of device. What is older than `remembered` counts no
/// more, so that a worker that gets little work because it was slow is tried
/// again.
class slow_workers {
public:
  /// As many times the others' time make a worker slow, and less than so many
  /// make it none again: between both it stays what it was.
  static constexpr double slow_from = 3;
  static constexpr double slow_until = 2;
  static constexpr core::timespan remembered = std::chrono::minutes{10};

  /// Notes what one step of a run took.
  void ran(core::worker_id worker, const run_shape& what, core::timespan step,
           core::time_point now);

  /// Forgets a worker that is no more.
  void gone(core::worker_id worker);

  /// Returns the slow workers, by rising id, where they are others than those
  /// that were returned last; nothing else. Looks once a second at most.
  std::optional<std::vector<core::worker_id>> news(core::time_point now);

private:
  struct sample {
    core::time_point at;
    double seconds = 0;
  };

  using samples = std::deque<sample>;
  using workers = std::map<core::worker_id, samples>;

  /// By worker: how many times the others' time it took, of each shape.
  std::map<core::worker_id, std::vector<double>> compared(core::time_point now);

  std::map<run_shape, workers> seen_;
  std::vector<core::worker_id> told_;
  core::time_point looked_{};
  bool anew_ = false;
};

} // namespace atelier::planning
