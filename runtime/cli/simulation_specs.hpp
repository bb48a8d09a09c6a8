// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/simulation/scenario.hpp>

#include <string_view>

namespace atelier::runtime::cli {

/// What options of `simulate` say in a few numbers and words.
/// Errors of each: ec::invalid_argument, with the option, the value and what it
///                 must be.

/// Reads MEAN,SPREAD.
core::result<planning::nearness> parse_similarity(std::string_view argument,
                                                  std::string_view text);

/// Reads RECALL,FALSE_ALARMS.
core::result<planning::hit_predictor> parse_hit_predictor(
  std::string_view argument, std::string_view text);

/// Reads FIELD=VALUE,...; `entries` is needed.
core::result<cache_spec> parse_cache(std::string_view argument,
                                     std::string_view text);

/// Reads SHARE[,MEAN[,SPREAD]].
core::result<edit_spec> parse_edits(std::string_view argument,
                                    std::string_view text);

} // namespace atelier::runtime::cli
