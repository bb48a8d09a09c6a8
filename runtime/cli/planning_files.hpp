// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/demand/trace.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::cli {

// All of these return errors that name the argument, or the file and the place
// in it.

/// Reads a file whole.
/// Errors: ec::invalid_argument where it cannot be read or has more than
///         `most_bytes`.
core::result<std::string> read_text(std::string_view argument,
                                    const std::string& path, size_t most_bytes);

core::result<planning::profile> read_profile(std::string_view argument,
                                             const std::string& path);

/// Reads what a trace's lines ask for, in the order of their times.
core::result<planning::trace> read_trace(std::string_view argument,
                                         const std::string& path);

/// Reads "KIND:LOW-HIGH:SECONDS", such as "diurnal:2-16:3600", as arrivals
/// drawn by seed.
core::result<std::vector<planning::traced_arrival>> make_load(
  std::string_view argument, std::string_view text, uint64_t seed);

/// Reads a file, or a number: requests a second.
core::result<planning::demand> read_demand(std::string_view argument,
                                           const std::string& text);

using planning::policy_list;

/// Reads names separated by commas; each must be a policy's, once. `fixed`
/// stands for a policy by each of `plans`, files that --plan named; more than
/// one are told apart by their files' names. `auto` stands for the policy that
/// planning::policy_for chooses for `known`. `more`: policies that can be named
/// beside planning::all_policies.
core::result<policy_list> read_policies(std::string_view argument,
                                        std::string_view text,
                                        const std::vector<std::string>& plans,
                                        const planning::profile& known,
                                        const policy_list& more);

/// Returns whether names separated by commas, or one of the plan files, name a
/// policy that planning::is_for_comparisons. Files that are no plans name none.
bool names_comparisons(std::string_view text,
                       const std::vector<std::string>& plans);

/// Reads a decimal number in `least`..`most`.
core::result<double> parse_number(std::string_view argument,
                                  std::string_view text, double least,
                                  double most);

} // namespace atelier::runtime::cli
