// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::http {

/// An asynchronous job as it was accepted.
struct journalled_job {
  /// The server's number of the job, which names the files of its images.
  uint64_t number = 0;
  /// The request, with the id that was sent in the answer, and with seeds.
  job_request wanted;
  std::chrono::system_clock::time_point created;
};

/// How a job ended.
struct journalled_end {
  uint64_t number = 0;
  job_state state = job_state::completed;
  failure why;
  std::optional<std::chrono::system_clock::time_point> started;
  std::chrono::system_clock::time_point completed;
  /// The images by index, without bytes and prompts; null for an image that is
  /// in no file.
  std::vector<std::shared_ptr<const generated_image>> images;
  /// The indices of the images that were cancelled alone.
  std::vector<uint32_t> cancelled_images;
};

/// A suspicion against an image of an open job: see atelier::suspicion.
struct journalled_suspicion {
  uint64_t number = 0;
  uint32_t index = 0;
  suspicion details;
};

/// An image of an open job that was cancelled alone.
struct journalled_cancellation {
  uint64_t number = 0;
  uint32_t index = 0;
};

/// The content of a journal from previous servers.
struct journal_contents {
  struct job {
    journalled_job was;
    /// How it ended; none if it was open when its server ended.
    std::optional<journalled_end> end;
    /// The indices of the images of an open job that were cancelled alone.
    std::vector<uint32_t> cancelled_images;
  };

  /// The jobs, ordered by number.
  std::vector<job> jobs;
  /// The names of forgotten jobs, oldest first.
  std::vector<job_name> forgotten;
};

/// Keeps asynchronous jobs for the next start of the server.
/// Threads: any. No member waits for the disk: records are written in the order
/// of the calls.
class job_journal {
public:
  virtual ~job_journal() = default;

  /// Returns whether no more jobs should be accepted for now, because the disk
  /// is slower than they come: their records wait, which takes memory.
  virtual bool is_behind() = 0;

  /// Writes a job. `then` is called once, from any thread: with success when
  /// the job would survive a loss of power, otherwise with an error, and the
  /// job will not be in the journal.
  virtual void accept(journalled_job x,
                      std::function<void(core::result<void>)> then) = 0;

  /// Calls `then` once all earlier calls of `accept` have received their
  /// result.
  virtual void after_accepts(std::function<void()> then) = 0;

  /// Writes the suspicion against an image in place of an earlier one; without
  /// trials, it clears the suspicion. `then` is called once, from any thread,
  /// whether the write succeeds or fails.
  virtual void suspect(journalled_suspicion x, std::function<void()> then) = 0;

  /// Writes that an image of an open job was cancelled alone. If that fails, it
  /// is tried again.
  virtual void cancel_image(journalled_cancellation x) = 0;

  /// Writes how a job ended, in place of an earlier record of its end. If that
  /// fails, it is tried again.
  /// @pre files of its images would survive a loss of power
  virtual void end(journalled_end x) = 0;

  /// Removes a job, but keeps its name. If that fails, it is tried again.
  virtual void forget(uint64_t number) = 0;
};

} // namespace atelier::runtime::http
