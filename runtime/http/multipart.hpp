// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http {

/// One field of a form.
struct form_part {
  std::string name;
  /// The client's name for its file: never a path of this machine. Empty if the
  /// field is no file.
  std::string filename;
  /// Empty if the client sent none.
  std::string content_type;
  /// Refers to the body that was parsed.
  std::string_view content;
};

struct multipart_limits {
  size_t parts = 64;
  /// The maximum size of one part's headers.
  size_t header_bytes = 4096;
};

/// Returns whether a message of this content type is a form in parts; media
/// types have no case.
bool is_multipart(std::string_view content_type);

/// Splits the body of a form without copying content. Takes time linear in the
/// body for any content.
/// @param content_type of the message, with the boundary
/// Errors: ec::bad_payload; ec::invalid_argument for too many parts or too
///         large headers.
/// Source: RFC 7578; RFC 2046, section 5.1.
core::result<std::vector<form_part>> parse_multipart(
  std::string_view content_type, std::string_view body,
  multipart_limits within = {});

} // namespace atelier::runtime::http
