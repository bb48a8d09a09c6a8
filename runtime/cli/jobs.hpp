// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// The arguments of `jobs`, as they were written.
struct jobs_arguments {
  /// The action and the job's ID, from the positional arguments.
  std::vector<std::string> words;
  /// With cancel: the index of the one image that is cancelled.
  std::optional<std::string> image;
  server_arguments server;
};

/// Adds `jobs` and its options to `app` and reads them into `into`. The words
/// are not an option: they are the remaining arguments.
CLI::App* add_jobs(CLI::App& app, jobs_arguments& into);

/// Lists the jobs of a running server, or cancels a job or one image of it: of
/// the server of --server, or of that of the data folder.
exit_status jobs(const jobs_arguments& arguments,
                 const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
