// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/answers.hpp>
#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/cli/exit_status.hpp>
#include <atelier/runtime/cli/interruption.hpp>
#include <atelier/runtime/cli/progress_bar.hpp>
#include <atelier/runtime/cli/service.hpp>
#include <atelier/runtime/cli/warm_list.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime::cli {

/// How the requests of a list are drawn.
struct warm_pace {
  /// The maximum number of requests that are submitted and not yet answered.
  uint64_t window = 1;
  /// After so many requests, the next one waits until the work of all is kept:
  /// a device may draw faster than a disk keeps, and there is room for the work
  /// of so many only. 0: any number.
  uint64_t batch = 0;
  /// How long to wait for cancelled requests, and for the last work to be kept.
  std::chrono::nanoseconds grace{0};
};

/// Draws the requests of a list, whose images it drops: what stays is what the
/// service keeps of them.
/// Threads: one.
class warm_run {
public:
  warm_run(const std::vector<warm_request>& list, const warm_pace& pace,
           service& draws, interruption& interrupted, const console& terminal);

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
  using time_point = std::chrono::steady_clock::time_point;

  void submit_more();
  bool submit(uint64_t index);
  void finish(uint64_t index, const answer& x);
  void fail(uint64_t index, const failure& why);
  void stop_early();
  bool wants_more() const;
  void show_progress();
  void hide_progress();

  const std::vector<warm_request>& list_;
  const warm_pace pace_;
  service& service_;
  interruption& interrupted_;
  const console& console_;
  std::shared_ptr<answers> answers_;
  progress_bar bar_;
  bool bar_shown_ = false;
  std::vector<std::optional<std::string>> routes_;
  uint64_t next_ = 0;
  /// Requests that were submitted since the work of all was kept.
  uint64_t in_batch_ = 0;
  /// Maps an index of the list to its request, for submitted and unanswered
  /// ones.
  std::map<uint64_t, uint64_t> running_;
  /// The service reported that it is full; it is asked again after an answer.
  bool full_ = false;
  std::optional<time_point> stopped_;
  std::optional<std::pair<uint64_t, exit_status>> first_failure_;
};

} // namespace atelier::runtime::cli
