// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/key_depth.hpp>

#include <algorithm>

namespace atelier::config::detail {

namespace {

/// Returns where the string that starts at `from` ends. Text that is no TOML
/// may end it elsewhere than the parser does; the parser then stops there too.
size_t end_of_string(std::string_view toml, size_t from) {
  const char mark = toml[from];
  const bool escapes = mark == '"';
  const std::string_view three =
    escapes ? std::string_view{R"(""")"} : std::string_view{"'''"};
  const bool multiline = toml.substr(from, 3) == three;
  size_t i = from + (multiline ? 3 : 1);
  for (; i < toml.size(); ++i) {
    if (escapes && toml[i] == '\\')
      ++i;
    else if (multiline && toml.substr(i, 3) == three) {
      // Up to two marks may stand right before the closing three.
      i += 3;
      for (int extra = 0; extra < 2 && i < toml.size() && toml[i] == mark;
           ++extra)
        ++i;
      return i;
    } else if (!multiline && (toml[i] == mark || toml[i] == '\n'))
      return toml[i] == mark ? i + 1 : i;
  }
  return toml.size();
}

} // namespace

uint32_t find_deep_key(std::string_view toml) {
  size_t dots = 0;
  size_t i = 0;
  while (i < toml.size()) {
    const char c = toml[i];
    if (c == '"' || c == '\'') {
      i = end_of_string(toml, i);
      continue;
    }
    if (c == '#') {
      i = std::min(toml.find('\n', i), toml.size());
      continue;
    }
    if (c == '.')
      ++dots;
    else if (c == '\n' || c == '=' || c == ',' || c == '{' || c == '[')
      dots = 0;
    if (dots >= most_key_parts) {
      const auto lines =
        std::count(toml.begin(), toml.begin() + static_cast<long>(i), '\n');
      return static_cast<uint32_t>(lines) + 1;
    }
    ++i;
  }
  return 0;
}

} // namespace atelier::config::detail
