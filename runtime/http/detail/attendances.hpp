// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace atelier::runtime::http::detail {

/// Clients that wait for open jobs on their connections, and jobs whose last
/// client went and may come again.
/// Threads: one at a time.
class attendances {
public:
  /// A client waits for this job; one that was left is no longer.
  void come(uint64_t job);

  /// A client went. True where it was the last one that waited.
  bool leave(uint64_t job);

  /// Somebody may come again for a job that all left.
  /// @pre nobody waits for it
  void may_return(uint64_t job, core::time_point now);

  /// The job ended: nobody counts any more.
  void end(uint64_t job) {
    jobs_.erase(job);
  }

  /// Returns the jobs, oldest first, for which nobody came again in `pause`.
  std::vector<uint64_t> given_up(core::time_point now,
                                 core::timespan pause) const;

private:
  struct attendance {
    uint32_t clients = 0;
    /// When the last of them went; none while there is one.
    std::optional<core::time_point> left_at;
  };

  std::map<uint64_t, attendance> jobs_;
};

} // namespace atelier::runtime::http::detail
