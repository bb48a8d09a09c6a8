// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/batching/decode_turns.hpp>
#include <atelier/gpu/device/detail/row_engine.hpp>
#include <atelier/gpu/device/executor.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <variant>

namespace atelier::gpu::detail {

/// The minimum duration of steps and decodings, to simulate a model's work.
struct device_pace {
  core::timespan step{0};
  core::timespan decode{0};
};

/// An executor whose jobs are run by a row_engine on a separate thread.
///
/// Images are decoded in parts while nothing runs, and between the steps of
/// runs (batching/decode_turns.hpp). The tenants' parts alternate
/// (batching/decode_turns.hpp) while their images may be decoded together
/// (row_engine::may_begin); an image that may not waits until those that have
/// begun are done, and no other begins before it. An exception from the rows
/// fails those being processed, and the thread continues.
/// planning::random_judge does not read images: rows are opened without it, and
/// their scores are drawn here.
///
/// The destructor ends the step in progress, publishes it, drops queued jobs
/// and joins. Once it has begun, no callback starts; one in progress is
/// completed.
/// Threads: as executor; only the owner may destroy it.
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
  void call(std::function<void()> work) override;
  void close(core::ticket who) override;

private:
  struct numbered_run {
    run_job job;
    uint64_t number = 0;
  };

  struct decode_job {
    core::ticket ticket;
  };

  struct close_job {
    core::ticket ticket;
  };

  struct image {
    core::ticket ticket;
    /// The remaining simulated duration.
    core::timespan owed{0};
    core::timespan spent{0};
    /// Whether a part has run, and the last one has not.
    bool begun = false;
  };

  struct call_job {
    std::function<void()> work;
  };

  using any_job =
    std::variant<open_job, numbered_run, decode_job, close_job, call_job>;

  void submit(any_job job);
  void work();
  void wait_for_job(std::unique_lock<std::mutex>& lock);
  void pause(core::time_point until);
  /// Runs `work`; an exception that it throws becomes an error.
  template <class Work>
  core::error guarded(Work&& work);
  void handle(const open_job& job);
  void handle(const numbered_run& x);
  void handle(const decode_job& job);
  void handle(const close_job& job);
  void handle(const call_job& job);
  /// Decodes the next part of the image whose turn it is.
  void paint();
  void paint(size_t at);
  /// Returns the index of the image whose turn it is. @pre there are images
  size_t first_image();
  /// Returns the image to decode when it is that one's turn: itself, or one
  /// for which it must wait.
  size_t on_the_way_to(size_t at);
  /// Decodes parts for as long as the next step of these rows can wait, but
  /// only one part if their run is interrupted. Returns the time spent.
  core::timespan paint_before_step(const std::vector<core::ticket>& rows,
                                   uint64_t run);

  const device_pace pace_;
  // Set by connect, before the first job.
  executor_events events_;

  // Used only by the owner.
  uint64_t runs_ = 0;

  // Used only by the thread.
  std::unique_ptr<row_engine> rows_;
  /// Time spent on opening the rows that have not run yet.
  std::unordered_map<core::ticket, core::timespan> opening_;
  /// Why rows could not be opened, for rows that have not run yet.
  std::unordered_map<core::ticket, core::error> unopened_;
  /// Scores of planning::random_judge for the rows that it judges.
  std::unordered_map<core::ticket, double> drawn_scores_;
  /// Requested images that are not done, in the order of their requests.
  std::deque<image> images_;
  decode_turns turns_;
  core::timespan last_step_{0};
  core::timespan last_part_{0};
  /// Time spent on images and on work of stages since the last step.
  core::timespan aside_{0};

  /// The last run that was interrupted.
  std::atomic<uint64_t> interrupted_{0};
  /// Written under the mutex.
  std::atomic<bool> stopping_{false};
  /// Whether the thread waits or spins for a job.
  std::atomic<bool> asleep_{false};
  std::atomic<bool> roused_{false};
  std::atomic<bool> has_job_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  /// Guarded by the mutex.
  std::deque<any_job> jobs_;

  // Declared last, so that it ends before the members that it uses.
  std::jthread thread_;
};

} // namespace atelier::gpu::detail
