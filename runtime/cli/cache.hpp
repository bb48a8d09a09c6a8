// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/cache_warm.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// The arguments of `cache`, as they were written.
struct cache_arguments {
  /// The action, from the positional arguments.
  std::vector<std::string> words;
  std::optional<std::string> folder;
  /// With clear: the name of the API key whose entries are removed. With warm:
  /// that of the key whose requests may start from the work, or with --server
  /// the key itself.
  std::optional<std::string> key;
  /// With clear: the age of the youngest entry that is removed.
  std::optional<std::string> older_than;
  warm_arguments warm;
};

/// Adds `cache` and its options to `app` and reads them into `into`. The words
/// are not an option: they are the remaining arguments.
CLI::App* add_cache(CLI::App& app, cache_arguments& into);

/// Verifies, describes, clears or fills the folder of a cache that no server
/// uses, or fills the cache of a server.
exit_status cache(const cache_arguments& arguments,
                  const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
