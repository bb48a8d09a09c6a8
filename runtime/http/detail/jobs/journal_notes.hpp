// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/jobs/job_entry.hpp>
#include <atelier/runtime/http/job_journal.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

/// Notes in the journal what happens to the jobs that it keeps; of other jobs,
/// and without a journal, it notes nothing.
/// Threads: any; what happens to one job comes in order.
class journal_notes {
public:
  explicit journal_notes(std::shared_ptr<job_journal> in)
    : journal_(std::move(in)) {}

  /// Returns whether there is a journal.
  explicit operator bool() const {
    return journal_ != nullptr;
  }

  bool is_behind() const {
    return journal_ && journal_->is_behind();
  }

  /// Does the same as job_journal::accept.
  /// @pre there is a journal
  void accept(journalled_job x,
              std::function<void(core::result<void>)> then) const {
    journal_->accept(std::move(x), std::move(then));
  }

  /// Does the same as job_journal::after_accepts.
  /// @pre there is a journal
  void after_accepts(std::function<void()> then) const {
    journal_->after_accepts(std::move(then));
  }

  /// Notes the end of a job that will not be drawn after the next start.
  /// @param unstored whether images of it must still be moved into files: then
  ///        a job that was drawn to its end stays open in the journal, because
  ///        the next server would have to draw them again
  void end(const job_entry& x, bool unstored) const;

  /// Notes all that happened to a job before the journal was asked to keep it.
  void catch_up(const job_entry& x, bool unstored) const;

  /// Notes that an image was cancelled alone.
  void cancel_image(const job_entry& x, uint32_t index) const;

  /// Notes the suspicion against an image of an open job, and calls `then` once
  /// it is on the disk. Returns false, without calling it, if nothing is noted.
  bool suspect(const job_entry& x, uint32_t index, const suspicion& how,
               const std::function<void()>& then) const;

  /// Notes that the jobs of these numbers were forgotten. Their files are
  /// removed at the next start, if they are not before.
  void forget(const std::vector<uint64_t>& numbers) const;

private:
  const std::shared_ptr<job_journal> journal_;
};

} // namespace atelier::runtime::http::detail
