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

/// Carries out one plan: submits requests, at most plan.window at a time, and
/// writes each image when it is answered.
/// Invariants: (1) Only the calling thread writes images. (2) After a request
/// to stop, or when images can no longer be written or reported, nothing more
/// is submitted and all running requests are cancelled.
/// Threads: one.
class generate_run {
public:
  generate_run(const generate_plan& plan, service& makes,
               interruption& interrupted, const console& terminal);

  /// Runs the plan. Returns when every submitted request is answered, or the
  /// wait for cancelled ones is over.
  exit_status run();

private:
  using time_point = std::chrono::steady_clock::time_point;

  /// Submits as many requests as the window allows.
  void submit_more();
  /// Submits one request. Returns false if the service is full and must be
  /// asked again.
  bool submit(uint64_t index);
  void finish(uint64_t index, const answer& x);
  void deliver(uint64_t index, const generated_image& x);
  void fail(uint64_t index, const failure& why);
  void note_failure(uint64_t index, exit_status status);
  /// Cancels all running requests.
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
  /// Maps image to request, for submitted and unanswered ones.
  std::map<uint64_t, uint64_t> running_;
  /// The service reported that it is full; it is asked again after an answer.
  bool full_ = false;
  std::optional<time_point> stopped_;
  bool was_interrupted_ = false;
  std::optional<std::pair<uint64_t, exit_status>> first_failure_;
  /// Notes that were printed.
  std::set<std::string> told_;
};

} // namespace atelier::runtime::cli
