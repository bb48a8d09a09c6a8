// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace atelier::runtime {

/// How our result compares with a published one.
enum class verdict : uint8_t {
  /// Within the tolerance.
  pass,
  fail,
  /// Reported without a tolerance.
  told,
  /// This simulation cannot show the result.
  open,
};

/// One row of the table.
struct reproduced {
  std::string paper;
  /// The figure or section, and its subject.
  std::string what;
  std::string published;
  std::string ours;
  /// The condition that must hold, or the settings of the run.
  std::string condition;
  verdict passes = verdict::open;
  /// For a failed row, why it fails; empty if the runs do not show it. For an
  /// open row, why it is open. For a row that necessarily returns an input,
  /// that input.
  std::string reason;
};

struct reproduction_options {
  /// "all", or the name of a paper.
  std::string which = "all";
  /// Folder with the published data, in `diffserve/` and, if available,
  /// `masks/`. If empty, traces and masks are synthetic.
  std::string published;
  /// Number of seeds for means, in rows that say so.
  uint32_t seeds = 5;
  /// Share of the full time, or of the requests, that experiments run for.
  /// Tests use less than 1, because they only check that rows come out as
  /// before.
  double length = 1;
};

/// Runs the experiments that show the papers' results.
/// @param progress called with the current experiment; false stops the run.
/// Errors: ec::invalid_argument for an unknown paper; ec::bad_payload for
///         published data that cannot be read; ec::cancelled.
core::result<std::vector<reproduced>> reproduce(
  const reproduction_options& options,
  const std::function<bool(const std::string&)>& progress = {});

/// Returns the rows as a table for docs/reproduction.md.
std::string rows_to_markdown(std::span<const reproduced> rows);

/// Returns one JSON object for each line.
std::string rows_to_json(std::span<const reproduced> rows);

std::string_view to_string(verdict x);

} // namespace atelier::runtime
