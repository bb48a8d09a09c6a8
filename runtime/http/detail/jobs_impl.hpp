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
///   submit     enters it, hands its pictures in one after the other; then, and
///              not before, listeners hear what happened meanwhile
///   engine     progressed: it runs; answered: a picture is there, or the job
///              failed and the rest of it is taken back
///   last news  one that keeps nothing is forgotten
///
/// Of a client that waits on its connection:
///
///   attend     submit; with an idempotency key that is known it joins the job
///   abandon    the client went: the last one's job ends, at once or, with a
///              key, where nobody comes again in time
///
/// With a journal, one that is taken on:
///
///   take_on    likewise; then the journal is told, and `then` once it is there
///   end        the journal is told, of one that was completed once its
///   pictures
///              are in files; one that ends with the engine stays open there
///   restore    enters it, and each tick hands in what the engine takes
///
/// One lock guards all; what changes a job enters news for its listeners, and
/// the thread that finds nobody telling tells them, without the lock.
///
/// This class makes the transitions that touch more than one part: the table
/// knows where a job stands, the attendances who waits for it on a connection,
/// its listeners what they are still to hear.
class jobs::impl : public std::enable_shared_from_this<jobs::impl> {
public:
  using entry = std::shared_ptr<detail::job_entry>;

  impl(std::shared_ptr<picture_service> from, job_limits within, clocks when,
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
  cancelled cancel(const job_name& name);
  job_view with_bytes(job_view x);
  void tick();
  size_t open() const;
  kept_pictures kept() const;
  void close();

private:
  /// A job that was entered, or was there.
  struct entered {
    entry job;
    bool twin = false;
  };

  /// Enters it, or finds the job that it is once more.
  /// @param waits a client waits for it, see attend
  std::variant<entered, failure> enter(job_request& what, job_listener& news,
                                       bool waits);
  std::variant<attendance, failure> submit(job_request what, job_listener news,
                                           bool waits);
  core::result<void> check(const job_request& what) const;
  std::string draw_name();
  callbacks calls_for(const entry& x, uint32_t index);
  void hand_in(const entry& x, const std::vector<generation>& pictures,
               std::optional<failure>& refused);
  void refuse(const entry& x, const failure& why);

  void progressed(const entry& x, uint32_t index, const progress& p);
  void answered(const entry& x, uint32_t index, const answer& a);
  void suspected(const entry& x, uint32_t index, const suspicion& how,
                 std::function<void()> go_on);

  // With the lock held:
  job_view view(const detail::job_entry& x) const;
  void begin(detail::job_entry& x);
  /// Returns what the engine is to forget.
  std::vector<uint64_t> end(const entry& x, job_state how, failure why = {});
  void push(detail::job_entry& x, detail::job_news::kind what,
            uint32_t index = 0, uint64_t first = 1);

  void note_end(const detail::job_entry& x);
  /// Ends a job that is open, for nobody wants it.
  std::vector<uint64_t> call_off(const entry& x);
  void restore_open(const entry& x, journalled_job was);
  void restore_ended(const entry& x, journalled_end end);

  // Without it:
  void write_down(const entry& x, job_request what,
                  std::function<void(std::variant<job_view, failure>)> then);
  std::variant<job_view, failure> outcome(const entry& x) const;
  void call_off_abandoned();
  void hand_in_again();
  bool hand_in_again(const entry& x);
  void tell_journal();
  void take_back(const std::vector<uint64_t>& requests);
  void tell(const entry& x);
  /// Removes the files of pictures that are kept no longer.
  void remove_dropped();
  void store_all();
  /// Brings a job's pictures into files. False where the disk does not take
  /// them.
  bool store(const entry& x);
  bool put(const entry& x, uint32_t index, const picture& what);

  std::shared_ptr<picture_service> from_;
  const job_limits within_;
  const clocks when_;
  const std::shared_ptr<const result_files> files_;
  const std::shared_ptr<job_journal> journal_;
  mutable std::mutex mutex_;
  detail::job_table table_;
  /// Of open jobs.
  detail::attendances attendances_;
  uint64_t last_number_ = 0;
  bool closed_ = false;
  /// Jobs that were restored and are open, by number.
  std::map<uint64_t, entry> restored_;
  /// Of `tick` alone: it is told once.
  bool disk_fails_ = false;
};

} // namespace atelier::runtime::http
