// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace atelier::runtime::http::detail {

/// Counts the clients that wait on their connections for open jobs, and keeps
/// the jobs whose last client left and may return.
/// Threads: one at a time.
class attendances {
public:
  /// Adds a client that waits for the job. An abandoned job is no longer
  /// abandoned.
  void come(uint64_t job);

  /// Removes a client. Returns true if it was the last one that waited.
  bool leave(uint64_t job);

  /// Starts the time in which a client may return to an abandoned job.
  /// @pre no client waits for it
  void may_return(uint64_t job, core::time_point now);

  /// Forgets an ended job and its clients.
  void end(uint64_t job) {
    jobs_.erase(job);
  }

  /// Returns the jobs, oldest first, to which no client returned within
  /// `pause`.
  std::vector<uint64_t> given_up(core::time_point now,
                                 core::timespan pause) const;

private:
  struct attendance {
    uint32_t clients = 0;
    /// When the last client left; empty while a client waits.
    std::optional<core::time_point> left_at;
  };

  std::map<uint64_t, attendance> jobs_;
};

} // namespace atelier::runtime::http::detail
