// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/result.hpp>
#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/runtime/cli/output_path.hpp>
#include <atelier/runtime/cli/server_caller.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// The maximum number of images of one call.
inline constexpr uint64_t most_images = 1'000'000;

/// The work of one call of `generate` or `edit`, with every argument read and
/// checked.
struct generate_plan {
  std::vector<std::string> prompts;
  /// The number of images of each prompt.
  uint64_t count = 1;
  /// The seed of each prompt's first image; the next images use the seeds after
  /// it.
  uint64_t seed = 0;
  /// The fields that all requests share.
  generation common;
  output_target output;
  on_existing existing = on_existing::refuse;
  engine_options engine;
  /// The server that makes the images; none if an engine in this process does.
  std::optional<server_options> server;
  /// The maximum number of requests that are submitted and not yet written.
  uint64_t window = 1;
  /// How long to wait for cancelled requests.
  std::chrono::nanoseconds grace{0};
  bool json = false;
  /// Remarks printed before the work: sentences about accepted arguments that
  /// have no effect, or an unusual one.
  std::vector<std::string> remarks;

  uint64_t images() const {
    return prompts.size() * count;
  }

  uint64_t seed_of(uint64_t index) const {
    return seed + index % count;
  }

  const std::string& prompt_of(uint64_t index) const {
    return prompts[index / count];
  }

  std::filesystem::path path_of(uint64_t index) const {
    return cli::path_of(output, index, seed_of(index));
  }
};

/// Reads all arguments against the configuration that they name, and checks
/// that the images can be written. Makes and starts nothing. Calls `draw_seed`
/// if no seed is given.
/// Errors: ec::invalid_argument, ec::bad_config, ec::io_failed (full disk).
core::result<generate_plan> plan_generate(
  const generate_arguments& arguments, const common_arguments& common,
  std::istream& standard_input, const std::function<uint64_t()>& draw_seed);

} // namespace atelier::runtime::cli
