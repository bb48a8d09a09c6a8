// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/http/job_journal.hpp>
#include <atelier/runtime/http/result_files.hpp>

#include <filesystem>
#include <memory>

namespace atelier::runtime::cli {

/// What a server keeps of jobs in its data folder.
struct kept_jobs {
  /// Null where pictures stay in memory.
  std::shared_ptr<const http::result_files> results;
  /// Null where no job outlives the server.
  std::shared_ptr<http::job_journal> journal;
  http::journal_contents found;
};

/// Opens the results, and the journal where one is wanted. Without one, results
/// that cannot be in files stay in memory, and `terminal` is told: a disk that
/// takes nothing does not keep a server from its work.
/// @param data may be empty: there is none
/// Errors: with a journal, those of journal_file and result_files, and
///         ec::bad_config without a data folder.
core::result<kept_jobs> open_kept_jobs(const config::http_settings& http,
                                       const std::filesystem::path& data,
                                       console& terminal);

} // namespace atelier::runtime::cli
