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

/// The parts of jobs that a server keeps in its data folder.
struct kept_jobs {
  /// Null if images stay in memory.
  std::shared_ptr<const http::result_files> results;
  /// Null if no job outlives the server.
  std::shared_ptr<http::job_journal> journal;
  http::journal_contents found;
};

/// Opens the results, and the journal if one is wanted. Without a journal,
/// results that cannot be written to files stay in memory and the reason is
/// printed to `terminal`: a disk that rejects writes does not stop a server
/// from working.
/// @param data the data folder; empty if no folder exists
/// Errors: with a journal, those of journal_file and result_files, and
///         ec::bad_config without a data folder.
core::result<kept_jobs> open_kept_jobs(const config::settings& x,
                                       const std::filesystem::path& data,
                                       console& terminal);

} // namespace atelier::runtime::cli
