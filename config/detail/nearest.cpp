// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/nearest.hpp>
#include <atelier/config/schema.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace atelier::config::detail {

namespace {

std::string_view last_part(std::string_view key) {
  return key.substr(key.rfind('.') + 1);
}

std::vector<std::string> known_keys() {
  std::vector<std::string> keys;
  for (const auto& x : sections())
    keys.emplace_back(x.name);
  for (const auto& x : options())
    keys.push_back(fmt::format("{}.{}", x.section, x.name));
  return keys;
}

} // namespace

std::string nearest_key(std::string_view key) {
  constexpr size_t longest = 64;
  if (key.size() > longest)
    return {};
  static const auto& known = *new auto(known_keys());
  std::tuple<size_t, size_t> best{longest, longest};
  std::string_view found;
  for (const auto& candidate : known) {
    const auto whole = edit_distance(key, candidate);
    // The right name in the wrong section is one mistake.
    const auto name = 1 + edit_distance(last_part(key), last_part(candidate));
    const std::tuple score{std::min(whole, name), whole};
    if (score < best) {
      best = score;
      found = candidate;
    }
  }
  // Two mistakes make any three letters of any others.
  const size_t letters = last_part(key).size();
  const size_t most = letters < 4 ? 1 : std::max<size_t>(2, letters / 3);
  return std::get<0>(best) <= most ? std::string{found} : std::string{};
}

} // namespace atelier::config::detail
