// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/batching/decode_turns.hpp>
#include <atelier/gpu/device/detail/row_engine.hpp>
#include <atelier/gpu/device/executor.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <variant>

namespace atelier::gpu::detail {

/// How long work takes at least, to stand for a model's.
struct device_pace {
  core::timespan step{0};
  core::timespan decode{0};
};

/// An executor whose jobs a row_engine does, on a thread of its own.
///
/// Pictures are decoded in parts while nothing runs, and between the steps of
/// what runs (batching/decode_share.hpp). What the rows throw fails those that
/// were worked on, and the thread goes on. planning::random_judge looks at no
/// picture: rows are opened without it, and their scores are drawn here.
///
/// The destructor ends the step in progress, publishes it, drops what is queued
/// and joins; nothing is called back from its begin on, but for a call in
/// progress.
/// Threads: as executor; the destructor is its owner's.
class device_thread final : public executor {
public:
  explicit device_thread(std::unique_ptr<row_engine> rows,
                         device_pace pace = {});
  ~device_thread() override;

  void connect(executor_events events) override;
  void rouse() override;
  void open(const open_job& job) override;
  void run(const run_job& job) override;
  void interrupt() override;
  void decode(core::ticket who) override;
  void close(core::ticket who) override;

private:
  struct numbered_run {
    run_job job;
    uint64_t number = 0;
  };

  struct decode_job {
    core::ticket who;
  };

  struct close_job {
    core::ticket who;
  };

  struct picture {
    core::ticket who;
    /// What is left of the pace's time.
    core::timespan owed{0};
    core::timespan spent{0};
  };

  using any_job = std::variant<open_job, numbered_run, decode_job, close_job>;

  void submit(any_job job);
  void work();
  void wait_for_job(std::unique_lock<std::mutex>& lock);
  void pause(core::time_point until);
  /// Lets the rows work; what they throw becomes an error.
  template <class Work>
  core::error guarded(Work&& work);
  void handle(const open_job& job);
  void handle(const numbered_run& x);
  void handle(const decode_job& job);
  void handle(const close_job& job);
  /// Does the next part of the picture whose turn it is (decode_turns.hpp).
  void paint();
  void paint(size_t at);
  size_t first_picture();
  /// Does so for as long as the next step of these rows can wait, but only once
  /// where their run is told to stop; returns how long it did.
  core::timespan paint_before_step(const std::vector<core::ticket>& rows,
                                   uint64_t run);

  const device_pace pace_;
  // Set by connect, before the first job.
  executor_events events_;

  // The owner's.
  uint64_t runs_ = 0;

  // The thread's.
  std::unique_ptr<row_engine> rows_;
  /// Time that opening took, of rows that have not run yet.
  std::unordered_map<core::ticket, core::timespan> opening_;
  /// Why rows could not be opened, of those that have not run yet.
  std::unordered_map<core::ticket, core::error> unopened_;
  /// What planning::random_judge says of the rows that it judges.
  std::unordered_map<core::ticket, double> drawn_scores_;
  /// Pictures that are asked for and not done, in their order.
  std::deque<picture> pictures_;
  decode_turns turns_;
  core::timespan last_step_{0};
  core::timespan last_part_{0};
  /// Spent on pictures since the last step.
  core::timespan aside_{0};

  /// The last run that was told to stop.
  std::atomic<uint64_t> interrupted_{0};
  /// Written under the mutex.
  std::atomic<bool> stopping_{false};
  /// The thread waits for a job, or looks for one.
  std::atomic<bool> asleep_{false};
  std::atomic<bool> roused_{false};
  std::atomic<bool> has_job_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  /// Guarded by the mutex.
  std::deque<any_job> jobs_;

  // Last: it ends before what it uses.
  std::jthread thread_;
};

} // namespace atelier::gpu::detail
