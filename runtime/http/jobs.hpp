// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/runtime/http/image_service.hpp>
#include <atelier/runtime/http/result_files.hpp>

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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

/// The key of a job. A client's own names belong to its API key and mean
/// nothing to other keys.
struct job_name {
  /// @param of the name of the API key; empty if no key is required
  job_name(std::string called, std::string of = {})
    : id(std::move(called)), owner(std::move(of)) {}

  job_name(const char* called) : id(called) {}

  auto operator<=>(const job_name&) const = default;

  std::string id;
  std::string owner;
};

/// The content of one call.
struct job_request {
  /// generation, edit or variation.
  std::string kind = "generation";
  /// At least one; each produces one image.
  std::vector<generation> images;
  /// The name of the caller's API key; empty if no key is required.
  std::string owner;
  /// The client's own name for the job: 1..128 of [A-Za-z0-9_.()-], not
  /// beginning with "job_", neither "." nor "..", unique for its API key. If it
  /// is empty, the server makes a name that cannot be guessed.
  std::string id;
  /// The same key from the same owner means the same job. It is empty if the
  /// client sent none.
  std::string idempotency_key;
  /// The fingerprint of the call. A known idempotency key requires the same
  /// fingerprint; with another one, it is a different call.
  std::string fingerprint;
  /// The W3C traceparent of the call; empty if it has none.
  std::string trace;
  /// The x-request-id of the call.
  std::string request_id;
  /// If true, its images can be fetched after it ended, until they expire. If
  /// false, they are forgotten after the last event of the job.
  bool keeps = false;
};

/// A snapshot of a job.
struct job_view {
  std::string id;
  std::string kind;
  std::string owner;
  /// The same as in the request.
  std::string trace;
  std::string request_id;
  job_state state = job_state::queued;
  std::chrono::system_clock::time_point created;
  std::optional<std::chrono::system_clock::time_point> started;
  std::optional<std::chrono::system_clock::time_point> completed;
  /// Its position in the queue of this server, from 1 on, by priority and age;
  /// 0 once it runs.
  uint32_t queue_position = 0;
  uint32_t images = 0;
  uint32_t images_done = 0;
  /// The indices of the images that were cancelled alone, in ascending order.
  std::vector<uint32_t> cancelled_images;
  /// The sum over all its images; `steps` is 0 until it is known. Both count
  /// only the steps that ran for an image that was cancelled alone.
  uint32_t steps_done = 0;
  uint32_t steps = 0;
  /// The steps that each image has done, by index, and those that an image
  /// takes: 0 until they are known.
  std::vector<uint32_t> image_steps;
  uint32_t steps_per_image = 0;
  /// The estimated time until it ends, from its pace so far; none until a pace
  /// is known.
  std::optional<core::timespan> remaining;
  /// The newest preview; null if none was requested, none exists yet, or the
  /// job's end was reported before.
  std::shared_ptr<const preview> seen;
  /// The index of the image that the preview shows.
  uint32_t seen_of = 0;
  /// The images by index; null for an image that is not available (yet). An
  /// image that is in a file has neither bytes nor prompts here: see
  /// jobs::with_bytes.
  std::vector<std::shared_ptr<const generated_image>> results;
  /// When its newest image was complete, by the clock of `jobs`.
  core::time_point ready{};
  /// For a failed job, the failure of its first failed image, which ended the
  /// job; for a cancelled one, what was cancelled.
  failure why;
  /// Its images were kept, and have expired.
  bool expired = false;
};

job_name name_of(const job_view& x);

/// Returns whether any of its images is in a file.
bool lacks_bytes(const job_view& x);

/// Callbacks of a job. They are called in the order of events, one at a time
/// for each job, from any thread and without a lock: they may call `jobs`
/// again. They must not block. `ended` is the last call.
struct job_listener {
  /// A step was completed, the job began, or an image was cancelled alone. The
  /// view contains the previews.
  std::function<void(const job_view&)> progressed;
  /// One image is complete.
  std::function<void(const job_view&, uint32_t index)> imaged;
  std::function<void(const job_view&)> ended;
};

/// What the caller of this name has per minute, for calls of so many images and
/// steps of all of them, and its share. The members are empty if nothing is
/// limited.
/// Threads: any; they must not call `jobs`.
struct job_allowance {
  /// Takes both, or returns why not.
  std::function<std::optional<failure>(const std::string& owner,
                                       uint64_t images, uint64_t steps)>
    take;
  /// Undoes `take` for a job that was not accepted.
  std::function<void(const std::string& owner, uint64_t images, uint64_t steps)>
    give_back;
  /// Returns the owner's share of devices (generation::share); without it, it
  /// is 1.
  std::function<uint32_t(const std::string& owner)> share;
};

struct job_limits {
  /// The maximum number of known jobs, ended ones included. The jobs that are
  /// removed are those of the new job's owner of which nothing can be fetched,
  /// and then the oldest ended ones of the owner that has the most. The same
  /// limit applies to the remembered names of removed jobs.
  uint32_t jobs = 10'000;
  /// The maximum number of images of one job.
  uint32_t images = 64;
  /// The maximum size of kept images in memory; `kept_disk_bytes` limits those
  /// in files. Above a limit, the jobs whose images were requested least
  /// recently, of the owner that holds the most, expire in that place.
  uint64_t kept_bytes = 256ull << 20;
  /// How long images are kept.
  core::timespan kept = std::chrono::hours{1};
  uint64_t kept_disk_bytes = 2048ull << 20;
  /// How long a call with an idempotency key continues after its client has
  /// left.
  core::timespan retry = std::chrono::seconds{10};
  /// The limits of each caller. A repeated call with a known idempotency key
  /// takes nothing, nor do jobs of previous servers.
  job_allowance allowance = {};
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

  /// @param files where `put_away` moves kept images; null: they stay in memory
  /// @param journal of the jobs that `take_on` accepts; null: all jobs end with
  ///        this object. A journal needs files. It must have another owner too:
  ///        its own thread must not destroy it.
  jobs(std::shared_ptr<image_service> from, job_limits within, clocks when,
       std::shared_ptr<const result_files> files = nullptr,
       std::shared_ptr<job_journal> journal = nullptr);

  /// Cancels open jobs without calling any listener, and removes the files of
  /// images, except those of jobs in the journal.
  ~jobs();

  jobs(const jobs&) = delete;
  jobs& operator=(const jobs&) = delete;

  /// Submits all images or none: if one is rejected, the earlier ones are
  /// cancelled and no listener is called. Events may arrive before this
  /// returns. If the idempotency key is known, returns that job and listens to
  /// it; if that job has ended, `ended` is called at once.
  /// Errors: those of engine::submit; invalid_argument for an id that is taken
  ///         or malformed, or for too many images; overloaded if
  ///         `job_limits::jobs` jobs are open; `key_reused` if the idempotency
  ///         key belongs to a call with another body; `limit_reached` if the
  ///         caller's allowance is used.
  std::variant<job_view, failure> submit(job_request what,
                                         job_listener news = {});

  /// A client that waits for its job on a connection.
  struct attendance {
    job_view job;
    /// The number of the job in this server; it is never reused.
    uint64_t number = 0;
  };

  /// Submits a job as `submit` does, for a client that waits. With an
  /// idempotency key the job keeps its images, and the same call again joins it
  /// or gets them. A job that failed, was cancelled or no longer keeps its
  /// images is drawn again.
  std::variant<attendance, failure> attend(job_request what,
                                           job_listener news = {});

  /// Says that a client that attended has left before its answer; must be
  /// called once. If no other client waits for the job, it is cancelled: at
  /// once without an idempotency key, otherwise by `tick` if no client has
  /// returned within `job_limits::retry`. Events still arrive.
  void abandon(uint64_t number);

  /// Submits a job without a listener that must outlive the server. `then` is
  /// called once: with a journal when the job is in it, from any thread;
  /// without one before this returns.
  /// Errors: those of `submit`, and `not_journalled`, with which nothing is
  ///         drawn.
  void take_on(job_request what,
               std::function<void(std::variant<job_view, failure>)> then);

  /// Enters the jobs of previous servers under their own names. Images of ended
  /// jobs expire as if the server had not stopped. `tick` submits open jobs
  /// again, with their seeds, as fast as the engine accepts them. A job ends as
  /// failed if the engine rejects what it accepted before, or if the deadline
  /// has passed.
  /// @pre nothing was submitted yet
  void restore(journal_contents from);

  /// Listens to a job from now on; if it has ended, `ended` is called at once.
  /// Returns a number for `leave`, or 0 if the job is unknown.
  uint64_t listen(const job_name& name, job_listener news);

  /// Stops listening; a call that has already begun still completes.
  void leave(const job_name& name, uint64_t listener);

  /// Returns a job; none if it is unknown or was forgotten.
  std::optional<job_view> find(const job_name& name) const;

  /// Returns the jobs of this id of all owners, newest first.
  std::vector<job_view> find_all(const std::string& id) const;

  /// Returns whether a job of that name existed and is forgotten. Only the last
  /// `jobs` names are remembered.
  bool forgotten(const job_name& name) const;

  /// Returns the same for a job of any owner.
  bool forgotten_of_anyone(const std::string& id) const;

  /// Returns the jobs of an owner, newest first; without an owner, those of
  /// all.
  std::vector<job_view> list(const std::optional<std::string>& owner,
                             size_t most) const;

  /// Returns the jobs that `list` returns after this one: those that are older.
  /// Returns none if this one is unknown or was forgotten.
  std::optional<std::vector<job_view>> list_after(
    const job_name& name, const std::optional<std::string>& owner,
    size_t most) const;

  /// Returns the newest open job of an owner that is of one of these kinds, a
  /// running one before those that wait; none if no such job is open.
  std::optional<job_view> find_open(
    const std::string& owner, std::span<const std::string_view> kinds) const;

  enum class cancelled : uint8_t { yes, unknown, ended };

  /// Ends a job and cancels its unfinished images; its listeners receive
  /// `ended`. Completed images stay.
  cancelled cancel(const job_name& name);

  /// Cancels one image of a job, whose other images continue. Once they are
  /// complete the job ends as cancelled: only a completed job has all its
  /// images. Returns `unknown` for an unknown job or index, and `ended` if the
  /// job or this image has ended.
  cancelled cancel_image(const job_name& name, uint32_t index);

  /// Forgets an ended job and its images, as if they had expired. Returns false
  /// if it is unknown or open, or if its caller still waits for the journal.
  bool forget(const job_name& name);

  /// Returns the view with the bytes of all its images. If the file of one is
  /// missing, the view says that they expired. This waits for the disk if
  /// lacks_bytes(x), and counts as a request for the images.
  job_view with_bytes(job_view x);

  /// Returns the sizes of the files of all its images in bytes, by index; 0 for
  /// a missing image. This waits for the disk if lacks_bytes(x).
  std::vector<uint64_t> file_sizes(const job_view& x) const;

  /// Forgets expired jobs, cancels abandoned ones, and submits the jobs of
  /// `restore` again. Must be called about every second, by one thread. Does
  /// not wait for the disk.
  void tick();

  /// Moves images of ended jobs from memory into files, and removes the files
  /// of those that are no longer kept. If that fails they stay in memory, and
  /// the next call tries again. Must be called about every second, by one
  /// thread, which is not that of `tick`: it waits for the disk.
  void put_away();

  /// Returns the number of jobs that have not ended.
  size_t open() const;

  /// Images that are kept until clients fetch them.
  struct kept_images {
    size_t jobs = 0;
    /// In memory.
    uint64_t bytes = 0;
    uint64_t disk_bytes = 0;
  };

  kept_images kept() const;

  /// The failure code for an idempotency key that was used with another body.
  static constexpr std::string_view key_reused = "key_reused";

  /// The failure code for a limit of the caller's key, with the time after
  /// which to retry.
  static constexpr std::string_view limit_reached = "rate_limit_exceeded";

  /// The failure code if the journal could not be written.
  static constexpr std::string_view not_journalled = "not_journalled";

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace atelier::runtime::http
