// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/answers.hpp>
#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/cli/exit_status.hpp>
#include <atelier/runtime/cli/generate_plan.hpp>
#include <atelier/runtime/cli/interruption.hpp>
#include <atelier/runtime/cli/progress_bar.hpp>
#include <atelier/runtime/cli/service.hpp>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace atelier::runtime::cli {

/// Carries out one plan: hands in requests, at most plan.window at a time, and
/// writes each picture as it is answered.
/// Invariants: (1) a picture is written by the calling thread only. (2) After a
/// wish to stop, or when pictures can no longer be written or told, nothing
/// more is handed in and all that runs is taken back.
/// Threads: one.
class generate_run {
public:
  generate_run(const generate_plan& plan, service& makes,
               interruption& interrupted, const console& terminal);

  /// Returns when everything handed in is answered, or the wait for what was
  /// taken back is over.
  exit_status run();

private:
  using time_point = std::chrono::steady_clock::time_point;

  /// Hands in as much as the window takes.
  void submit_more();
  /// Returns false where the service is full and will be asked again.
  bool submit(uint64_t index);
  void finish(uint64_t index, const answer& x);
  void deliver(uint64_t index, const picture& x);
  void fail(uint64_t index, const failure& why);
  void note_failure(uint64_t index, exit_status status);
  /// Takes back all that runs.
  void stop_early();
  bool wants_more() const;
  void tell(const std::string& line);
  void show_progress();
  void hide_progress();

  const generate_plan& plan_;
  service& service_;
  interruption& interrupted_;
  const console& console_;
  std::shared_ptr<answers> answers_;
  progress_bar bar_;
  bool bar_shown_ = false;

  uint64_t next_ = 0;
  /// Picture -> request, of what is handed in and not answered.
  std::map<uint64_t, uint64_t> running_;
  /// The service said that it is full; ask again after an answer.
  bool full_ = false;
  std::optional<time_point> stopped_;
  bool was_interrupted_ = false;
  std::optional<std::pair<uint64_t, exit_status>> first_failure_;
  /// Notes that were printed.
  std::set<std::string> told_;
};

} // namespace atelier::runtime::cli
