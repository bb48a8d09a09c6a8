// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/runtime/http/picture_service.hpp>
#include <atelier/runtime/http/result_files.hpp>

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace atelier::runtime::http {

class job_journal;
struct journal_contents;

enum class job_state : uint8_t {
  queued,
  running,
  completed,
  failed,
  cancelled
};

std::string_view to_string(job_state x);

/// What a job is found by: a client's own names are those of one key, and say
/// nothing to others.
struct job_name {
  /// @param of the name of the key; empty where none is asked for
  job_name(std::string called, std::string of = {})
    : id(std::move(called)), owner(std::move(of)) {}

  job_name(const char* called) : id(called) {}

  auto operator<=>(const job_name&) const = default;

  std::string id;
  std::string owner;
};

/// What a client wants with one call.
struct job_request {
  /// generation, edit or variation.
  std::string kind = "generation";
  /// At least one; each becomes one picture.
  std::vector<generation> pictures;
  /// The name of the key that asks; empty where none is asked for.
  std::string owner;
  /// The client's own name for it (1..128 of [A-Za-z0-9_.()-], not beginning
  /// with "job_"), one among those of its key; empty: one is made, which nobody
  /// can guess.
  std::string id;
  /// The same one again, from the same owner, is the same job. Empty: none.
  std::string idempotency_key;
  /// Of the call: with a key that is known it must be the same, else the call
  /// is another one.
  std::string fingerprint;
  /// The W3C traceparent of the call that asks; empty: none.
  std::string trace;
  /// The x-request-id of the call that asks.
  std::string request_id;
  /// Its pictures can be asked for after it ended, until they expire; else they
  /// are forgotten with the last news of it.
  bool keeps = false;
};

/// What is known of a job at a moment.
struct job_view {
  std::string id;
  std::string kind;
  std::string owner;
  /// As in the request.
  std::string trace;
  std::string request_id;
  job_state state = job_state::queued;
  std::chrono::system_clock::time_point created;
  std::optional<std::chrono::system_clock::time_point> started;
  std::optional<std::chrono::system_clock::time_point> completed;
  /// Its place among the jobs of this server that wait, from 1 on, by priority
  /// and age; 0 once it runs.
  uint32_t queue_position = 0;
  uint32_t pictures = 0;
  uint32_t pictures_done = 0;
  /// Over all its pictures; `steps` is 0 while nothing is known of it.
  uint32_t steps_done = 0;
  uint32_t steps = 0;
  /// Until it ends, as its pace so far says; none before it has one.
  std::optional<core::timespan> remaining;
  /// The newest one; null where none was asked for or none is there yet.
  std::shared_ptr<const preview> seen;
  /// The picture that it is of.
  uint32_t seen_of = 0;
  /// By index; null where a picture is not there (yet). One that is in a file
  /// has neither bytes nor prompts here: see jobs::with_bytes.
  std::vector<std::shared_ptr<const picture>> results;
  /// When its newest picture was there, by the jobs' own clock.
  core::time_point ready{};
  /// Of a failed job: that of its first failed picture, with which it ended.
  failure why;
  /// Its pictures were kept, and are gone.
  bool expired = false;
};

job_name name_of(const job_view& x);

/// Whether a picture of it is in a file.
bool lacks_bytes(const job_view& x);

/// Called in the order of events, one at a time for each job, from any thread,
/// without a lock: they may call `jobs` again. They must not block. After
/// `ended` nothing more comes.
struct job_listener {
  /// A step was done, or the job began; previews stand in the view.
  std::function<void(const job_view&)> progressed;
  /// One picture is there.
  std::function<void(const job_view&, uint32_t index)> pictured;
  std::function<void(const job_view&)> ended;
};

struct job_limits {
  /// Jobs known, ended ones included; the oldest ended ones go first. Also the
  /// names remembered of those that went.
  uint32_t jobs = 10'000;
  /// Pictures of one job.
  uint32_t pictures = 64;
  /// Of kept pictures in memory; in files: `kept_disk_bytes`. Where they are
  /// more, those of the job there that nobody asked for the longest expire.
  uint64_t kept_bytes = 256ull << 20;
  /// How long they are kept.
  core::timespan kept = std::chrono::hours{1};
  uint64_t kept_disk_bytes = 2048ull << 20;
  /// How long a call with an idempotency key goes on for nobody.
  core::timespan retry = std::chrono::seconds{10};
};

/// All jobs of a server.
/// Threads: any.
class jobs {
public:
  struct clocks {
    std::function<core::time_point()> steady;
    std::function<std::chrono::system_clock::time_point()> wall;
    /// Random bits for names that cannot be guessed.
    std::function<uint64_t()> draw;
  };

  /// @param files where `tick` brings kept pictures to; null: they stay in
  ///        memory
  /// @param journal of the jobs that are taken on; null: all end with this.
  ///        Needs files. Somebody else owns it too: its thread must not be what
  ///        ends it.
  jobs(std::shared_ptr<picture_service> from, job_limits within, clocks when,
       std::shared_ptr<const result_files> files = nullptr,
       std::shared_ptr<job_journal> journal = nullptr);

  /// Takes back what is open, calls nobody, and removes the files of pictures,
  /// but those of jobs in the journal.
  ~jobs();

  jobs(const jobs&) = delete;
  jobs& operator=(const jobs&) = delete;

  /// Hands all pictures in, or none: where one is refused, those before it are
  /// taken back and nobody is called. News may come before this returns. Where
  /// the idempotency key is known, returns that job and listens to it (one that
  /// ended: `ended` is called at once).
  /// Errors: those of engine::submit; invalid_argument for an id that is taken
  ///         or malformed, or too many pictures; overloaded where `jobs` are
  ///         open; `key_reused` where the idempotency key is that of a call
  ///         with another body.
  std::variant<job_view, failure> submit(job_request what,
                                         job_listener news = {});

  /// A client that waits for its job on a connection.
  struct attendance {
    job_view job;
    /// Of this server's jobs; never that of another one.
    uint64_t number = 0;
  };

  /// Likewise, for a client that waits. With an idempotency key the job keeps
  /// its pictures, and the same call again joins it or gets them; one that
  /// failed, was cancelled or keeps its pictures no longer is drawn anew.
  std::variant<attendance, failure> attend(job_request what,
                                           job_listener news = {});

  /// A client that attended went away before its answer; to be called once.
  /// Where no other waits for the job, it is cancelled: at once without an
  /// idempotency key, else by `tick` where nobody has come again in
  /// `job_limits::retry`. News still come.
  void abandon(uint64_t number);

  /// Likewise without a listener, for a job that is to outlive the server:
  /// where there is a journal, `then` is called when the job is in it, from any
  /// thread, else before this returns. Once.
  /// Errors: also `not_journalled`, with which nothing is drawn.
  void take_on(job_request what,
               std::function<void(std::variant<job_view, failure>)> then);

  /// Enters the jobs of servers before, under their own names. Pictures of
  /// those that ended expire as if the server had not; what was open is handed
  /// in again, with its seeds, by `tick`, as the engine takes it: where it
  /// refuses what it took before, or the deadline has passed, the job ends as
  /// failed.
  /// @pre nothing was submitted yet
  void restore(journal_contents from);

  /// Listens to a job from now on too; where it ended, `ended` is called at
  /// once. Returns a number to leave by, 0 where it is not known.
  uint64_t listen(const job_name& name, job_listener news);

  /// Listens no longer; a call under way still comes.
  void leave(const job_name& name, uint64_t listener);

  /// None where it is not known (any more).
  std::optional<job_view> find(const job_name& name) const;

  /// Those of this id, whosever they are, the newest first.
  std::vector<job_view> find_all(const std::string& id) const;

  /// Whether a job of that name was here and is forgotten, as far as is
  /// remembered: the last `jobs` names.
  bool forgotten(const job_name& name) const;

  /// Likewise, whosever it was.
  bool forgotten_of_anyone(const std::string& id) const;

  /// Newest first; without an owner everybody's.
  std::vector<job_view> list(const std::optional<std::string>& owner,
                             size_t most) const;

  enum class cancelled : uint8_t { yes, unknown, ended };

  /// Ends it and takes back what is not done of it; its listeners are told by
  /// `ended`. Pictures that were done stay.
  cancelled cancel(const job_name& name);

  /// Returns the view with the bytes of all pictures that it has; where one's
  /// file is gone, it says that they expired. It waits for the disk where
  /// lacks_bytes(x). Counts as asking for them.
  job_view with_bytes(job_view x);

  /// Forgets what expired, cancels what was abandoned, hands in again what
  /// `restore` brought, and brings pictures of jobs that ended from memory into
  /// files; where that fails they stay in memory, and the next call tries
  /// again. To be called about every second, by one thread: it waits for the
  /// disk.
  void tick();

  /// Jobs that did not end yet.
  size_t open() const;

  /// Pictures that wait for who asked for them.
  struct kept_pictures {
    size_t jobs = 0;
    /// In memory.
    uint64_t bytes = 0;
    uint64_t disk_bytes = 0;
  };

  kept_pictures kept() const;

  /// The code of the failure where an idempotency key came with another body.
  static constexpr std::string_view key_reused = "key_reused";

  /// Where the journal could not be written.
  static constexpr std::string_view not_journalled = "not_journalled";

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace atelier::runtime::http
