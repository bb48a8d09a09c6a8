// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/draw_list.hpp>
#include <atelier/runtime/cli/warm_list.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// Draws the requests of a list, whose images it drops: what stays is what the
/// service keeps of them.
/// Threads: one.
class warm_run {
public:
  /// @param list outlives this object, like the others
  warm_run(const std::vector<warm_request>& list, const draw_pace& pace,
           service& draws, interruption& interrupted, const console& terminal);

  warm_run(const warm_run&) = delete;
  warm_run& operator=(const warm_run&) = delete;

  /// Draws all of them. Returns when every submitted request is answered and
  /// its work is kept, or the wait for cancelled ones is over: the status of
  /// the first failure, or of an interruption.
  exit_status run();

  /// Returns the routes by which the requests of the list were drawn; none for
  /// those that were not.
  const std::vector<std::optional<std::string>>& routes() const {
    return routes_;
  }

private:
  const std::chrono::nanoseconds grace_;
  service& service_;
  interruption& interrupted_;
  std::vector<std::optional<std::string>> routes_;
  draw_list list_;
};

} // namespace atelier::runtime::cli
