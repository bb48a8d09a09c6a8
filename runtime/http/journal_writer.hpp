// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/runtime/http/job_journal.hpp>
#include <atelier/runtime/http/journal_file.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace atelier::runtime::http {

/// The limits of the accepted jobs whose records wait for the disk. A journal
/// that has reached one of them is behind.
struct journal_queue {
  /// The size of all of them.
  uint64_t bytes = 512ull << 20;
  /// How long the oldest has waited.
  core::timespan wait = std::chrono::seconds{10};
  std::function<core::time_point()> now = std::chrono::steady_clock::now;
};

/// Writes a journal's file on a thread of its own: records that arrive while it
/// writes are written together, with one synchronisation. Ends that cannot be
/// written wait until they can, at most two for each job.
class journal_writer : public job_journal {
public:
  explicit journal_writer(std::unique_ptr<journal_file> to,
                          journal_queue most = {});

  /// Writes the records that are still waiting.
  /// @pre not on its own thread: no callback holds the last owner
  ~journal_writer() override;

  journal_writer(const journal_writer&) = delete;
  journal_writer& operator=(const journal_writer&) = delete;

  bool is_behind() override;
  void accept(journalled_job x,
              std::function<void(core::result<void>)> then) override;
  void after_accepts(std::function<void()> then) override;
  void suspect(journalled_suspicion x, std::function<void()> then) override;
  void cancel_image(journalled_cancellation x) override;
  void end(journalled_end x) override;
  void forget(uint64_t number) override;

private:
  struct order {
    /// The record; none if only `then` is to be called.
    std::optional<journal_file::record> record;
    std::function<void(core::result<void>)> then;
    /// The size of an accepted job; 0 for other orders.
    uint64_t bytes = 0;
  };

  /// An accepted job that waits.
  struct waiting {
    uint64_t bytes = 0;
    core::time_point since;
  };

  void push(order x);
  void work();
  /// Gives an order its result.
  void answer(const order& x, const core::result<void>& done);
  void write(std::deque<order> all);
  core::result<void> write_together(const std::deque<order>& all);
  void tell(const core::result<void>& done);

  const std::unique_ptr<journal_file> file_;
  const journal_queue most_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<order> told_;
  /// The accepted jobs without a result, in order, and their size.
  std::deque<waiting> accepting_;
  uint64_t accepting_bytes_ = 0;
  bool behind_ = false;
  bool ending_ = false;
  /// Only the thread uses these: the records that could not be written, and
  /// whether that was reported.
  std::deque<order> late_;
  bool fails_ = false;
  std::thread thread_;
};

} // namespace atelier::runtime::http
