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

/// No name of a trace's lists.
inline constexpr uint32_t no_name = UINT32_MAX;

/// One request of a trace.
struct traced_arrival {
  double seconds = 0;
  /// The subject of the request: equal numbers ask for the same.
  uint64_t content = 0;
  /// Images wanted.
  uint32_t images = 1;
  /// The request that an image belongs to, from 0 on (see one_image_each).
  uint32_t request = 0;
  /// Indices into the trace's names.
  uint32_t variant = no_name;
  uint32_t tenant = no_name;
  /// 0: the variant's.
  uint32_t steps = 0;
  /// Empty: the variant's.
  core::extent px{};
  /// Masked share of an edit; below 0: it is none.
  float masked = -1;
  /// From arrival to the answer; 0: it says none.
  float deadline_ms = 0;
  /// It failed where it was recorded.
  bool failed = false;

  friend bool operator==(const traced_arrival&,
                         const traced_arrival&) = default;
};

/// A name in a trace, and the line that has it first.
struct traced_name {
  std::string text;
  size_t line = 0;

  friend bool operator==(const traced_name&, const traced_name&) = default;
};

/// Requests by rising time, and what they name.
struct trace {
  std::vector<traced_arrival> arrivals;
  std::vector<traced_name> variants = {};
  std::vector<traced_name> tenants = {};
  /// The columns that the first line names; empty: it names none.
  std::vector<std::string> columns = {};
  /// Lines whose time lies before that of a line above.
  size_t moved = 0;
};

/// Returns the names of the columns that there are, separated by commas.
std::string trace_columns();

/// Reads a trace. Empty lines, and what follows #, are skipped. Without a line
/// that names columns each line is a time in milliseconds and, after a comma, a
/// whole number: its content. Such a line begins with a letter; an empty cell
/// below it says nothing, and two lines at one time are two requests. What is
/// not in the order of its times is put into it; lines of one time keep theirs.
/// Errors: ec::bad_payload: nothing in it, a line that is none, a column that
///         is not known, occurs twice or is missing (ms), a value outside
///         its range; the text names `where`, line, column, value and range. At
///         most 100 lines are told.
core::result<trace> parse_trace(std::string_view text, std::string_view where);

/// Returns the requests with one entry for each image wanted, at the same time
/// and of the same content, each with the number of its request.
std::vector<traced_arrival> one_image_each(std::vector<traced_arrival> of);

/// Returns whether they are so already, each request of one image.
bool is_one_image_each(std::span<const traced_arrival> of);

} // namespace atelier::planning
