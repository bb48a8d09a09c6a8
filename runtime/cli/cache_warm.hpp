// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// The arguments of `cache warm`, as they were written.
struct warm_arguments {
  std::optional<std::string> prompts;
  std::optional<std::string> negative;
  std::optional<std::string> size;
  std::optional<std::string> model;
  std::optional<std::string> device;
  std::optional<std::string> dtype;
  std::optional<std::string> policy;
  std::optional<std::string> processes;
  std::optional<std::string> server;
  /// File of trusted certificates for --server: --cacert.
  std::optional<std::string> authorities;
};

/// Adds the options of `warm` to the command `cache`.
void add_cache_warm(CLI::App& to, warm_arguments& into);

/// Returns the name of the first option that was given; empty if none was.
std::string_view given_option(const warm_arguments& x);

/// Fills a cache with the work of a list of prompts: the folder of the
/// configuration or `folder`, by an engine in this process, or the cache of a
/// running server.
/// @param key the name of the API key whose later requests may start from the
///        work; with --server the key itself
exit_status cache_warm(const warm_arguments& arguments,
                       const std::optional<std::string>& folder,
                       const std::optional<std::string>& key,
                       const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
