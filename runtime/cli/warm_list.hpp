// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/core/result.hpp>

#include <istream>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// A request whose work is to be kept, and its place in the list for messages:
/// "--prompts: FILE:3".
struct warm_request {
  std::string place;
  generation wanted;
};

/// Reads the list of --prompts from the file at `path`, or from
/// `standard_input` where it is "-": one prompt a line, or one JSON object with
/// the fields of a request if the list begins with '{'. `common` has the fields
/// that a line does not set.
/// Errors: ec::invalid_argument with the line, the field and the value. A field
///         is refused if a request that sets it never starts from the cache, or
///         leaves nothing there.
core::result<std::vector<warm_request>> read_warm_list(
  const std::string& path, std::istream& standard_input,
  const core::limits& within, const generation& common);

} // namespace atelier::runtime::cli
