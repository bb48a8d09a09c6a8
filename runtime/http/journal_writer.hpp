// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/job_journal.hpp>
#include <atelier/runtime/http/journal_file.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace atelier::runtime::http {

/// Writes a journal's file on a thread of its own: records that arrive while it
/// writes are written together, with one synchronisation. Ends that cannot be
/// written wait until they can, at most two for each job.
class journal_writer : public job_journal {
public:
  explicit journal_writer(std::unique_ptr<journal_file> to);

  /// Writes the records that are still waiting.
  /// @pre not on its own thread: no callback holds the last owner
  ~journal_writer() override;

  journal_writer(const journal_writer&) = delete;
  journal_writer& operator=(const journal_writer&) = delete;

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
  };

  void push(order x);
  void work();
  void write(std::deque<order> all);
  core::result<void> write_together(const std::deque<order>& all);
  void tell(const core::result<void>& done);

  const std::unique_ptr<journal_file> file_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<order> told_;
  bool ending_ = false;
  /// Only the thread uses these: the records that could not be written, and
  /// whether that was reported.
  std::deque<order> late_;
  bool fails_ = false;
  std::thread thread_;
};

} // namespace atelier::runtime::http
