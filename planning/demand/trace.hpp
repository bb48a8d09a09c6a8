// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::planning {

/// The index of an absent name.
inline constexpr uint32_t no_name = UINT32_MAX;

/// One request of a trace.
struct traced_arrival {
  double seconds = 0;
  /// The subject of the request: requests with equal numbers have the same
  /// subject.
  uint64_t content = 0;
  /// The number of requested images.
  uint32_t images = 1;
  /// The index of the request that an image belongs to (see one_image_each).
  uint32_t request = 0;
  /// Indices into the trace's names.
  uint32_t variant = no_name;
  uint32_t tenant = no_name;
  /// 0: the variant's steps.
  uint32_t steps = 0;
  /// Empty: the variant's size.
  core::extent px{};
  /// The masked fraction of an edit; below 0: the request is not an edit.
  float masked = -1;
  /// The time from arrival to the answer; 0: none given.
  float deadline_ms = 0;
  /// The request failed when it was recorded.
  bool failed = false;
  /// The request is part of the load, but results leave it out: it ran before
  /// they were measured.
  bool warm_up = false;

  friend bool operator==(const traced_arrival&,
                         const traced_arrival&) = default;
};

/// A name in a trace, and the first line that has it.
struct traced_name {
  std::string text;
  size_t line = 0;

  friend bool operator==(const traced_name&, const traced_name&) = default;
};

/// Requests by rising time, and the names that they use.
struct trace {
  std::vector<traced_arrival> arrivals;
  std::vector<traced_name> variants = {};
  std::vector<traced_name> tenants = {};
  /// The columns that the first line names; empty: it names none.
  std::vector<std::string> columns = {};
  /// The number of lines whose time is before that of an earlier line.
  size_t moved = 0;
};

/// Returns the names of the known columns, separated by commas.
std::string trace_columns();

/// Reads a trace. Empty lines, and text after #, are skipped. The first line
/// may name columns; such a line begins with a letter. Without it, each line is
/// a time in milliseconds and, after a comma, a whole number: its content. An
/// empty cell is a missing value, and two lines at one time are two requests.
/// Lines are sorted by time; lines of one time keep their order.
/// Errors: ec::bad_payload: the trace is empty, a line is malformed, a column
/// is unknown, occurs twice or is missing (ms), or a value is outside its
/// range; the text names `where`, line, column, value and range. It reports at
/// most 100 lines.
core::result<trace> parse_trace(std::string_view text, std::string_view where);

/// Returns the requests with one entry for each requested image, at the same
/// time and with the same content, each with the index of its request.
std::vector<traced_arrival> one_image_each(std::vector<traced_arrival> of);

/// Returns whether each request already has exactly one image.
bool is_one_image_each(std::span<const traced_arrival> of);

} // namespace atelier::planning
