// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/kept_jobs.hpp>
#include <atelier/runtime/http/journal_writer.hpp>

#include <cstdint>
#include <set>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using core::result;
using http::result_files;

result<void> open_journal(const config::settings& x,
                          const std::filesystem::path& data, kept_jobs& into) {
  if (data.empty())
    return core::fail(
      core::ec::bad_config,
      "http.journal \"on\" needs a data folder: name one with --data");
  auto file = http::journal_file::open(data / "jobs.sqlite", x.http.jobs);
  if (!file)
    return file.why();
  auto found = (*file)->read();
  if (!found)
    return found.why();
  into.found = std::move(*found);
  into.journal = std::make_shared<http::journal_writer>(
    std::move(*file), http::journal_queue{x.limits.sources_bytes});
  return {};
}

} // namespace

result<kept_jobs> open_kept_jobs(const config::settings& x,
                                 const std::filesystem::path& data,
                                 console& terminal) {
  kept_jobs out;
  const auto& http = x.http;
  auto how = result_files::durability::none;
  if (http.journal == "on") {
    if (auto ok = open_journal(x, data, out); !ok)
      return ok.why();
    how = result_files::durability::synchronised;
  }
  if (http.results_disk_bytes == 0 || data.empty())
    return out;
  std::set<uint64_t> known;
  for (const auto& job : out.found.jobs)
    if (job.end)
      known.insert(job.was.number);
  auto made = result_files::open(data / "results", known, how);
  if (made)
    out.results = std::move(*made);
  else if (out.journal)
    return made.why();
  else
    terminal.complain(made.why().text + "; results of jobs stay in memory");
  return out;
}

} // namespace atelier::runtime::cli
