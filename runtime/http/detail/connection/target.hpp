// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/http/exchange.hpp>

#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

/// The target in a request's first line.
struct target {
  /// Percent-decoded; begins with '/'. "*" stands for the whole server.
  std::string path;
  /// Percent-decoded, in order; '+' is a space.
  fields query;
  /// The host and port of a target in absolute form; otherwise empty.
  std::string authority;
};

/// Parses "/path?query", "http://host/path?query" or "*".
/// Errors: ec::invalid_argument for invalid escapes, invalid UTF-8, control
///         characters, segments "." and "..", and fragments.
core::result<target> parse_target(std::string_view text);

} // namespace atelier::runtime::http::detail
