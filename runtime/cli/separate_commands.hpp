// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/exit_status.hpp>

#include <functional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

struct common_arguments;
struct environment;
struct evaluate_arguments;
struct simulate_arguments;
struct train_arguments;

/// The work of the commands that have programs of their own, so that nothing
/// that serves links what they need. The program `atelier` hands it over, the
/// others do it.
struct separate_commands {
  template <class Arguments>
  using work = std::function<exit_status(
    const Arguments&, const common_arguments&, environment&)>;

  work<train_arguments> train;
  work<evaluate_arguments> evaluate;
  /// `simulate --reproduce`.
  work<simulate_arguments> reproduce;
};

/// Returns commands that go on as `atelier-training` and `atelier-papers`, with
/// the arguments of this program: the process stays the same, so that output,
/// signals and exit status are theirs.
/// Errors, told to people: ec::not_found where a program is missing, with the
/// places where it was looked for.
separate_commands handed_over(const std::vector<std::string>& arguments);

} // namespace atelier::runtime::cli
