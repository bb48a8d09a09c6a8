// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/jobs/attendances.hpp>
#include <atelier/runtime/http/detail/jobs/caller_accounts.hpp>
#include <atelier/runtime/http/detail/jobs/image_storage.hpp>
#include <atelier/runtime/http/detail/jobs/job_queries.hpp>
#include <atelier/runtime/http/detail/jobs/job_table.hpp>
#include <atelier/runtime/http/detail/jobs/journal_notes.hpp>
#include <atelier/runtime/http/detail/jobs/restored_jobs.hpp>
#include <atelier/runtime/http/job_journal.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

namespace atelier::runtime::http {

/// Sequence of a job:
///
///   submit     enters it and submits its images in order; only then listeners
///              receive the events that occurred meanwhile
///   engine     progressed: the job runs; answered: an image is finished, or
///              the job failed and its other requests are cancelled
///   cancel_image  ends one image; the job ends with its last open one
///   last news  a job that keeps nothing is forgotten
///
/// Sequence of a job whose client waits on its connection:
///
///   attend     submit; with a known idempotency key the client joins that job
///   abandon    the client disconnected: when the last client leaves, the job
///              ends, at once or, with a key, if no client returns in time
///
/// Sequence of a job that is accepted with a journal:
///
///   take_on    as submit; then writes the job to the journal, and calls
///              `then` once it is written
///   cancel_image  writes that too: the image is not drawn after a restart
///   end        writes the end to the journal, that of a job that was drawn to
///              its end once its images are in files; a job that ends with the
///              engine stays open in the journal
///   restore    enters it, and each tick submits what the engine accepts
///
/// One lock guards everything. A change to a job enqueues news for its
/// listeners. A thread that finds no other thread notifying them notifies them,
/// without the lock.
///
/// This class makes the transitions that affect several parts, one function for
/// each event. The parts own what only they change: the table finds the jobs,
/// and each job has its images' way through the engine, its listeners with the
/// news still to be delivered, and what the journal promised of it; the
/// attendances count the clients that wait on connections, the restored jobs
/// keep the requests of previous servers, the accounts know the callers'
/// allowances, the notes write to the journal, and the storage has the files.
class jobs::impl : public std::enable_shared_from_this<jobs::impl> {
public:
  using entry = std::shared_ptr<detail::job_entry>;

  impl(std::shared_ptr<image_service> from, job_limits within, clocks when,
       std::shared_ptr<const result_files> files,
       std::shared_ptr<job_journal> journal);

  /// Returns what the question answers about all jobs.
  template <class Question>
  auto ask(Question question) const {
    const std::lock_guard guard{mutex_};
    return question(look());
  }

  /// @param waits whether a client waits for it, see attend
  std::variant<attendance, failure> submit(job_request what, job_listener news,
                                           bool waits);
  void take_on(job_request what,
               std::function<void(std::variant<job_view, failure>)> then);
  void restore(journal_contents from);
  void abandon(uint64_t number);
  uint64_t listen(const job_name& name, job_listener news);
  void leave(const job_name& name, uint64_t listener);
  cancelled cancel(const job_name& name);
  cancelled cancel_image(const job_name& name, uint32_t index);
  bool forget(const job_name& name);
  job_view with_bytes(job_view x);
  std::vector<uint64_t> file_sizes(const job_view& x) const;
  void tick();
  void put_away();
  void close();

private:
  /// A new job, or one that already existed.
  struct entered {
    entry job;
    bool twin = false;
  };

  /// Enters a job, or finds the existing job that it repeats. Gives it a name
  /// if it has none.
  std::variant<entered, failure> enter(job_request& what, job_listener& news,
                                       bool waits);
  callbacks calls_for(const entry& x, uint32_t index);
  /// Submits all images of a new job, or refuses it.
  std::optional<failure> hand_in(const entry& x,
                                 const std::vector<generation>& images);
  std::optional<failure> hand_in(const entry& x, uint32_t index,
                                 const generation& wanted);
  void refuse(const entry& x, const failure& why);

  void progressed(const entry& x, uint32_t index, const progress& p);
  void answered(const entry& x, uint32_t index, const answer& a);
  void suspected(const entry& x, uint32_t index, const suspicion& how,
                 const std::function<void()>& go_on);

  // The next members require the lock.
  detail::job_queries look() const {
    return {table_, when_.steady()};
  }

  void join(detail::job_entry& x, job_listener& news, bool waits);
  void begin(detail::job_entry& x);
  /// Returns the requests that the engine must forget.
  std::vector<uint64_t> end(const entry& x, job_state how, failure why = {});
  void push(detail::job_entry& x, detail::job_news::kind what,
            uint32_t index = 0, uint64_t first = 1);
  /// Ends an open job that has no open image left.
  void end_if_settled(const entry& x);
  /// Ends an open job that no client wants.
  std::vector<uint64_t> call_off(const entry& x);
  void restore_open(const entry& x, std::vector<generation> images);
  void restore_ended(const entry& x, journalled_end end);

  // The next members are called without the lock.
  void write_down(const entry& x, job_request what,
                  std::function<void(std::variant<job_view, failure>)> then);
  void call_off_abandoned();
  /// Returns false if the engine takes no more for now.
  bool hand_in_again(uint64_t number);
  /// Tell the journal which jobs were forgotten, and whose images expired.
  void note_forgotten();
  void note_expired();
  void take_back(const std::vector<uint64_t>& requests);
  void tell(const entry& x);

  const std::shared_ptr<image_service> from_;
  const job_limits within_;
  const clocks when_;
  const detail::caller_accounts accounts_;
  const detail::journal_notes notes_;
  mutable std::mutex mutex_;
  detail::job_table table_;
  /// The clients of open jobs.
  detail::attendances attendances_;
  detail::restored_jobs restored_;
  bool closed_ = false;
  /// It takes the lock itself.
  detail::image_storage storage_;
};

} // namespace atelier::runtime::http
