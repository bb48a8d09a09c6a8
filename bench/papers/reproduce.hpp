// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace atelier::runtime {

/// How a published result and ours compare.
enum class verdict : uint8_t {
  /// Within the tolerance.
  pass,
  fail,
  /// Told, without a tolerance.
  told,
  /// Cannot be shown by this simulation.
  open,
};

/// One row of the table.
struct reproduced {
  std::string paper;
  /// The figure or section, and what it shows.
  std::string what;
  std::string published;
  std::string ours;
  /// What must hold, or under which conditions.
  std::string condition;
  verdict passes = verdict::open;
  /// Where it fails: why, as far as the runs show it; empty: they do not. Where
  /// it is open: why. Where it is told and can only return its input: which.
  std::string reason;
};

struct reproduction_options {
  /// "all", or the name of a paper.
  std::string which = "all";
  /// Folder with the published data, in `diffserve/` and, where there are any,
  /// `masks/`; empty: made traces and masks.
  std::string published;
  /// Seeds that means are taken over, where a row says so.
  uint32_t seeds = 5;
  /// Share of the time, or of the requests, that experiments run for: below 1
  /// for tests, which look whether rows come out as before.
  double length = 1;
};

/// Runs the experiments that show the papers' results.
/// @param progress told what runs; false stops.
/// Errors: ec::invalid_argument for an unknown paper; ec::bad_payload for
///         published data that cannot be read; ec::cancelled.
core::result<std::vector<reproduced>> reproduce(
  const reproduction_options& options,
  const std::function<bool(const std::string&)>& progress = {});

/// Returns the rows as a table for docs/reproduction.md.
std::string rows_to_markdown(std::span<const reproduced> rows);

/// Returns one JSON object a line.
std::string rows_to_json(std::span<const reproduced> rows);

std::string_view to_string(verdict x);

} // namespace atelier::runtime
