// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace atelier::actors {

/// What a worker hosts, will host and serves, and how its batches form. Others
/// read it; only `hosting` changes it.
/// Threads: one at a time.
class hosted {
public:
  hosted() = default;

  /// The worker of a device.
  hosted(std::vector<core::variant_id> has, std::vector<core::queue_id> served,
         uint32_t most_rows, bool loads_beside)
    : hosting_(std::move(has)),
      becoming_(hosting_),
      queues_(std::move(served)),
      loads_beside_(loads_beside),
      most_rows_(most_rows) {}

  /// A worker of a pool, which hosts nothing and serves these queues.
  explicit hosted(std::vector<core::queue_id> served)
    : queues_(std::move(served)) {}

  const std::vector<core::variant_id>& hosting() const {
    return hosting_;
  }

  /// Returns the variants that it hosts after the current changes.
  const std::vector<core::variant_id>& becoming() const {
    return becoming_;
  }

  /// Returns the variants that it could not load, until the next attempt is
  /// due.
  const std::vector<core::variant_id>& unloadable() const {
    return unloadable_;
  }

  uint32_t level() const {
    return level_;
  }

  bool hosts(core::variant_id v) const {
    return contains(hosting_, v);
  }

  bool will_host(core::variant_id v) const {
    return contains(becoming_, v);
  }

  /// Returns the queues that it serves.
  const std::vector<core::queue_id>& queues() const {
    return queues_;
  }

  bool serves(core::queue_id queue) const {
    return std::find(queues_.begin(), queues_.end(), queue) != queues_.end();
  }

  /// Whether it takes rows, rather than load without them.
  bool takes_rows() const {
    return !loading_ && !next_;
  }

  /// Whether it loads beside its rows now.
  bool loading_beside() const {
    return beside_;
  }

  /// Whether its hosting changes now, or is about to.
  bool changes() const {
    return loading_ || beside_ || next_;
  }

  /// Returns the maximum rows of a batch, and how rows join, by the plan.
  uint32_t most_rows() const {
    return most_rows_;
  }

  planning::joining join() const {
    return join_;
  }

  /// Returns the number of its last `adopt`, whose answer counts.
  uint32_t last_order() const {
    return orders_;
  }

  /// Rises when what policies see of it may have changed.
  uint64_t version() const {
    return version_;
  }

private:
  friend class hosting;

  static bool contains(const std::vector<core::variant_id>& all,
                       core::variant_id v) {
    return std::find(all.begin(), all.end(), v) != all.end();
  }

  std::vector<core::variant_id> hosting_;
  std::vector<core::variant_id> becoming_;
  std::vector<core::variant_id> unloadable_;
  uint32_t level_ = 0;
  std::vector<core::queue_id> queues_;
  std::vector<core::queue_id> also_serves_;
  /// The variants that the plan assigns to it, until it hosts them: meanwhile
  /// it takes no work and shows no hosting.
  std::optional<std::vector<core::variant_id>> next_;
  /// Variants that it is ordered to unload when it is not loading.
  std::vector<core::variant_id> leaving_;
  bool loads_beside_ = false;
  bool beside_ = false;
  uint32_t orders_ = 0;
  bool loading_ = false;
  core::time_point load_began_;
  uint32_t most_rows_ = 0;
  planning::joining join_ = planning::joining::step;
  uint64_t version_ = 1;
};

} // namespace atelier::actors
