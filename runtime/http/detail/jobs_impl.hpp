// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/http/detail/attendances.hpp>
#include <atelier/runtime/http/detail/job_table.hpp>
#include <atelier/runtime/http/job_journal.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
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
/// This class makes the transitions that affect several parts: the table holds
/// each job's state, the attendances count the clients that wait for it on
/// connections, and its listeners hold the news still to be delivered.
class jobs::impl : public std::enable_shared_from_this<jobs::impl> {
public:
  using entry = std::shared_ptr<detail::job_entry>;

  impl(std::shared_ptr<image_service> from, job_limits within, clocks when,
       std::shared_ptr<const result_files> files,
       std::shared_ptr<job_journal> journal);

  void take_on(job_request what,
               std::function<void(std::variant<job_view, failure>)> then);
  void restore(journal_contents from);
  std::variant<job_view, failure> submit(job_request what, job_listener news);
  std::variant<attendance, failure> attend(job_request what, job_listener news);
  void abandon(uint64_t number);
  uint64_t listen(const job_name& name, job_listener news);
  void leave(const job_name& name, uint64_t listener);
  std::optional<job_view> find(const job_name& name) const;
  std::vector<job_view> find_all(const std::string& id) const;
  bool forgotten(const job_name& name) const;
  bool forgotten_of_anyone(const std::string& id) const;
  std::vector<job_view> list(const std::optional<std::string>& owner,
                             size_t most) const;
  std::optional<std::vector<job_view>> list_after(
    const job_name& name, const std::optional<std::string>& owner,
    size_t most) const;
  std::optional<job_view> find_open(
    const std::string& owner, std::span<const std::string_view> kinds) const;
  cancelled cancel(const job_name& name);
  cancelled cancel_image(const job_name& name, uint32_t index);
  bool forget(const job_name& name);
  job_view with_bytes(job_view x);
  std::vector<uint64_t> file_sizes(const job_view& x) const;
  void tick();
  void put_away();
  size_t open() const;
  kept_images kept() const;
  void close();

private:
  /// A new job, or one that already existed.
  struct entered {
    entry job;
    bool twin = false;
  };

  /// Enters a job, or finds the existing job that it repeats.
  /// @param waits whether a client waits for it, see attend
  std::variant<entered, failure> enter(job_request& what, job_listener& news,
                                       bool waits);
  std::variant<attendance, failure> submit(job_request what, job_listener news,
                                           bool waits);
  core::result<void> check(const job_request& what) const;
  /// Returns the steps that its caller's allowance must give; 0 without one.
  uint64_t steps_of(const job_request& what) const;
  /// Returns the share of devices of a caller's jobs.
  uint32_t share_of(const std::string& owner) const;
  std::string draw_name();
  callbacks calls_for(const entry& x, uint32_t index);
  void hand_in(const entry& x, const std::vector<generation>& images,
               std::optional<failure>& refused);
  void refuse(const entry& x, const failure& why);

  void progressed(const entry& x, uint32_t index, const progress& p);
  void answered(const entry& x, uint32_t index, const answer& a);
  void suspected(const entry& x, uint32_t index, const suspicion& how,
                 std::function<void()> go_on);

  // The next members require the lock.
  job_view view(const detail::job_entry& x) const;
  using by_age =
    std::map<uint64_t, std::shared_ptr<detail::job_entry>, std::greater<>>;
  /// Returns the owner's jobs, or those of all, from this one on.
  std::vector<job_view> list_from(by_age::const_iterator i,
                                  const std::optional<std::string>& owner,
                                  size_t most) const;
  void begin(detail::job_entry& x);
  /// Returns the requests that the engine must forget.
  std::vector<uint64_t> end(const entry& x, job_state how, failure why = {});
  void push(detail::job_entry& x, detail::job_news::kind what,
            uint32_t index = 0, uint64_t first = 1);

  void note_end(const detail::job_entry& x);
  void note_cancelled(const detail::job_entry& x, uint32_t index);
  /// Ends an open job that has no open image left.
  void end_if_settled(const entry& x);
  /// Ends an open job that no client wants.
  std::vector<uint64_t> call_off(const entry& x);
  void restore_open(const entry& x, journalled_job was,
                    const std::vector<uint32_t>& indices);
  void restore_ended(const entry& x, journalled_end end);

  // The next members are called without the lock.
  void write_down(const entry& x, job_request what,
                  std::function<void(std::variant<job_view, failure>)> then);
  std::variant<job_view, failure> outcome(const entry& x) const;
  void call_off_abandoned();
  void hand_in_again();
  bool hand_in_again(const entry& x);
  /// Tell the journal which jobs were forgotten, and whose images expired.
  void note_forgotten();
  void note_expired();
  void take_back(const std::vector<uint64_t>& requests);
  void tell(const entry& x);
  /// Removes the files of images that are no longer kept.
  void remove_dropped();
  void store_all();
  /// Writes a job's images to files. Returns false if the disk rejects them.
  bool store(const entry& x);
  bool put(const entry& x, uint32_t index, const generated_image& what);

  std::shared_ptr<image_service> from_;
  const job_limits within_;
  const clocks when_;
  const std::shared_ptr<const result_files> files_;
  const std::shared_ptr<job_journal> journal_;
  mutable std::mutex mutex_;
  detail::job_table table_;
  /// The clients of open jobs.
  detail::attendances attendances_;
  uint64_t last_number_ = 0;
  bool closed_ = false;
  /// Open jobs that were restored, by number.
  std::map<uint64_t, entry> restored_;
  /// Used only by `put_away`: a disk failure is reported once until the disk
  /// works again.
  bool disk_fails_ = false;
};

} // namespace atelier::runtime::http
