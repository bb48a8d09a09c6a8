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

/// The journal of jobs as an SQLite file that belongs to one server.
/// Threads: one at a time; it waits for the disk.
class journal_file {
public:
  struct forgotten_job {
    uint64_t number = 0;
  };

  using record =
    std::variant<journalled_job, journalled_suspicion, journalled_cancellation,
                 journalled_end, forgotten_job>;

  /// The version of the schema, in the file's `user_version`. The tables of
  /// suspicions and of cancelled images were added later without a new version:
  /// they are created if they are missing.
  static constexpr int version = 2;

  /// Opens the file, or creates it with its folder, accessible only to its
  /// owner. A file that is rejected stays as it is.
  /// @param names how many names of forgotten jobs are remembered
  /// Errors: ec::bad_config if it is broken, another program's, or of a newer
  ///         version; ec::unavailable if another server has it; ec::io_failed;
  ///         each with the path.
  static core::result<std::unique_ptr<journal_file>> open(
    const std::filesystem::path& path, uint64_t names);

  ~journal_file();

  journal_file(const journal_file&) = delete;
  journal_file& operator=(const journal_file&) = delete;

  /// Reads the whole journal.
  /// Errors: ec::bad_config if it cannot be understood.
  core::result<journal_contents> read();

  /// Writes all records or none, through to the disk. The end or removal of an
  /// unknown job has no effect.
  /// Errors: ec::io_failed.
  core::result<void> write(std::span<const record* const> all);

private:
  class impl;
  explicit journal_file(std::unique_ptr<impl> x);

  std::unique_ptr<impl> impl_;
};

} // namespace atelier::runtime::http
