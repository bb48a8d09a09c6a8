// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace atelier::core {

/// Returns a value of nlohmann's library as JSON on one line, or indented by
/// `indent` blanks. Bytes that are not UTF-8 become U+FFFD.
/// Threads: any.
template <class Json>
std::string json_text(const Json& x, int indent = -1) {
  return x.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Returns the same on one line, with escapes for all that is not ASCII.
template <class Json>
std::string ascii_json_text(const Json& x) {
  return x.dump(-1, ' ', true, Json::error_handler_t::replace);
}

} // namespace atelier::core
