// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/files/printable.hpp>

#include <optional>

namespace atelier::gpu::detail {

std::string printable(std::string_view text) {
  constexpr size_t most_bytes = 200;
  const bool cut = text.size() > most_bytes;
  auto rest = text.substr(0, most_bytes);
  std::string out;
  while (!rest.empty()) {
    const auto fault = core::find_utf8_fault(rest);
    const auto good = rest.substr(0, fault.value_or(rest.size()));
    for (const char c : good) {
      const auto code = static_cast<unsigned char>(c);
      out += code < 0x20 || code == 0x7f ? '?' : c;
    }
    rest.remove_prefix(good.size());
    if (fault) {
      out += '?';
      rest.remove_prefix(1);
    }
  }
  return cut ? out + "..." : out;
}

} // namespace atelier::gpu::detail
