// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/core_set.hpp>
#include <atelier/config/detail/number.hpp>

#include <algorithm>

namespace atelier::config {

namespace {

std::optional<uint32_t> parse_core(std::string_view text) {
  // Four digits: no more are needed, and none overflow.
  if (text.empty() || text.size() > 4)
    return std::nullopt;
  const auto number = detail::parse_whole(text);
  if (!number || *number >= most_cores)
    return std::nullopt;
  return static_cast<uint32_t>(*number);
}

} // namespace

std::optional<std::vector<uint32_t>> parse_core_set(std::string_view text) {
  std::vector<uint32_t> cores;
  for (;;) {
    const auto comma = text.find(',');
    const auto item = text.substr(0, comma);
    const auto dash = item.find('-');
    const auto first = parse_core(item.substr(0, dash));
    const auto last =
      dash == item.npos ? first : parse_core(item.substr(dash + 1));
    if (!first || !last || *first > *last)
      return std::nullopt;
    for (auto core = *first; core <= *last; ++core)
      cores.push_back(core);
    if (comma == text.npos)
      break;
    text.remove_prefix(comma + 1);
  }
  std::sort(cores.begin(), cores.end());
  if (std::adjacent_find(cores.begin(), cores.end()) != cores.end())
    return std::nullopt;
  return cores;
}

} // namespace atelier::config
