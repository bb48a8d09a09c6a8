// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/measure_reuse.hpp>

#include <istream>
#include <optional>
#include <ostream>
#include <string>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// The arguments of `profile --cache`, as they were written.
struct profile_reuse_arguments {
  bool cache = false;
  std::optional<std::string> captions;
  std::optional<std::string> stored;
  std::optional<std::string> prompts;
  std::optional<std::string> alpha;
  std::optional<std::string> seed;
};

void add_profile_reuse(CLI::App& sub, profile_reuse_arguments& into);

/// Returns what `--cache` measures by `settings`; nothing without it.
/// Errors: ec::invalid_argument (an argument that needs --cache, a number
/// outside its range, too few prompts); those of read_prompts_file.
core::result<std::optional<reuse_measurement>> plan_profile_reuse(
  const profile_reuse_arguments& arguments, const config::settings& settings,
  std::istream& standard_input);

/// Prints what was measured: a line for each skip.
void print_reuse(const planning::reuse_profile& x, std::ostream& to);

} // namespace atelier::runtime::cli
