// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/http/job_journal.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <variant>

namespace atelier::runtime::http {

/// The journal of jobs as a file of SQLite, of one server.
/// Threads: one at a time; it waits for the disk.
class journal_file {
public:
  struct forgotten_job {
    uint64_t number = 0;
  };

  using record = std::variant<journalled_job, journalled_suspicion,
                              journalled_end, forgotten_job>;

  /// Of the schema, in the file's `user_version`. The table of suspicions came
  /// later without a number of its own: it is made where it is missing.
  static constexpr int version = 2;

  /// Opens the file, or makes it, its owner's alone, with the folder. One that
  /// is refused stays as it is.
  /// @param names how many names of forgotten jobs are remembered
  /// Errors: ec::bad_config where it is broken, another program's, or of a
  /// newer
  ///         version; ec::unavailable where another server has it;
  ///         ec::io_failed; with the path.
  static core::result<std::unique_ptr<journal_file>> open(
    const std::filesystem::path& path, uint64_t names);

  ~journal_file();

  journal_file(const journal_file&) = delete;
  journal_file& operator=(const journal_file&) = delete;

  /// Errors: ec::bad_config where it cannot be understood.
  core::result<journal_contents> read();

  /// Writes all or none, through to the disk. An end or a forgetting of a job
  /// that is not there does nothing.
  /// Errors: ec::io_failed.
  core::result<void> write(std::span<const record* const> all);

private:
  class impl;
  explicit journal_file(std::unique_ptr<impl> x);

  std::unique_ptr<impl> impl_;
};

} // namespace atelier::runtime::http
