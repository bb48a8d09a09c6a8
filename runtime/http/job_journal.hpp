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

/// An asynchronous job as it was taken on.
struct journalled_job {
  /// The server's own: files of its pictures are named after it.
  uint64_t number = 0;
  /// With the id that it was answered with, and seeds.
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
  /// By index, without bytes and prompts; null where none is in a file.
  std::vector<std::shared_ptr<const picture>> pictures;
};

/// What is held against a picture of an open job: see atelier::suspicion.
struct journalled_suspicion {
  uint64_t number = 0;
  uint32_t index = 0;
  suspicion how;
};

/// What a journal has of the servers before.
struct journal_contents {
  struct job {
    journalled_job was;
    /// None: it was open when its server ended.
    std::optional<journalled_end> end;
  };

  /// By number.
  std::vector<job> jobs;
  /// Names of jobs that were forgotten, oldest first.
  std::vector<job_name> forgotten;
};

/// Keeps asynchronous jobs for the next start of the server.
/// Threads: any. No member waits for the disk: what is told is written in the
/// order in which it was told.
class job_journal {
public:
  virtual ~job_journal() = default;

  /// Writes a job. `then` is called once, from any thread: with success when it
  /// would outlive a loss of power, else it will not be there.
  virtual void accept(journalled_job x,
                      std::function<void(core::result<void>)> then) = 0;

  /// Calls `then` once all `accept` before have been told their result.
  virtual void after_accepts(std::function<void()> then) = 0;

  /// Writes what is held against a picture, in place of what was before; with
  /// no trials, that nothing is. `then` is called once, from any thread,
  /// whether it is written or cannot be.
  virtual void suspect(journalled_suspicion x, std::function<void()> then) = 0;

  /// Writes how a job ended, in place of what was told of it before. Where that
  /// fails it is tried again.
  /// @pre files of its pictures would outlive a loss of power
  virtual void end(journalled_end x) = 0;

  /// Removes a job, but its name. Likewise.
  virtual void forget(uint64_t number) = 0;
};

} // namespace atelier::runtime::http
