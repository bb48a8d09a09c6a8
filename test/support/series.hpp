// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace atelier::test {

/// Returns the number of series in a text of the format of Prometheus.
inline size_t series_of(std::string_view text) {
  size_t out = 0;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    out += !line.empty() && line.front() != '#' ? 1u : 0u;
    text.remove_prefix(line.size() < text.size() ? line.size() + 1
                                                 : line.size());
  }
  return out;
}

} // namespace atelier::test
