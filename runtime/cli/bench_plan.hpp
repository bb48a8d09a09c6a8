// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/bench.hpp>
#include <atelier/runtime/cli/engine_options.hpp>
#include <atelier/runtime/cli/load_run.hpp>
#include <atelier/runtime/cli/server_service.hpp>

#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// What one call of `bench serve` will do: every argument read and checked.
struct bench_plan {
  std::vector<due_request> load;
  /// Sent before, one after the other, and not counted.
  std::vector<generation> warm_up;
  std::optional<core::timespan> slo;
  core::timespan patience{0};
  /// What is started, or asked.
  engine_options engine;
  std::optional<server_options> server;
  /// A file for what became of each request.
  std::optional<std::string> records;
  on_existing records_mode = on_existing::refuse;
  core::timespan grace{0};
  /// How it is run, by name, for the report.
  std::map<std::string, std::string> about;
};

/// Reads all arguments. Starts nothing. The same arguments make the same load.
/// Errors: ec::invalid_argument, ec::not_found, ec::bad_config.
core::result<bench_plan> plan_bench(const bench_arguments& arguments,
                                    const common_arguments& common,
                                    std::istream& standard_input);

} // namespace atelier::runtime::cli
