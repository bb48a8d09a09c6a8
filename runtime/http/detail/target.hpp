// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/http/exchange.hpp>

#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

/// What a request's first line asks for.
struct target {
  /// Percent-decoded; begins with '/'. "*" where the whole server is meant.
  std::string path;
  /// Percent-decoded, in order; '+' is a blank.
  fields query;
  /// Of the absolute form alone: the host and port that it names.
  std::string authority;
};

/// Reads "/path?query", "http://host/path?query" or "*".
/// Errors: ec::invalid_argument for escapes that are none, bytes that are no
///         UTF-8, control characters, segments "." and "..", fragments.
core::result<target> parse_target(std::string_view text);

} // namespace atelier::runtime::http::detail
