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

/// The arguments of `bench`, as they were written.
struct bench_arguments {
  std::optional<std::string> trace;
  std::optional<std::string> rate;
  std::optional<std::string> load;
  std::optional<std::string> requests;
  std::optional<std::string> duration;
  std::vector<std::string> mix;
  std::optional<std::string> prompts_file;
  std::optional<std::string> seed;
  std::optional<std::string> slo_ms;
  std::optional<std::string> warm_up;
  std::optional<std::string> patience;
  std::optional<std::string> server;
  std::optional<std::string> key;
  std::optional<std::string> authorities;
  std::optional<std::string> connections;
  std::optional<std::string> batching;
  std::optional<std::string> model;
  std::optional<std::string> device;
  std::optional<std::string> dtype;
  std::optional<std::string> policy;
  std::optional<std::string> processes;
  std::optional<std::string> timeline;
  std::optional<std::string> records;
  bool force = false;
};

CLI::App* add_bench(CLI::App& app, bench_arguments& into);

/// Runs `bench serve`: sends a load to an engine that it starts, or to a
/// running server, and reports how it was answered. Each request is sent when
/// it is due, whatever the state of those before it.
exit_status bench(const bench_arguments& arguments,
                  const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
