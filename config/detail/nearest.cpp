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

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

std::string nearest_key(std::string_view key) {
  constexpr size_t longest = 64;
  if (key.size() > longest)
    return {};
  static const auto known = known_keys();
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
  const size_t most = std::max<size_t>(2, last_part(key).size() / 3);
  return std::get<0>(best) <= most ? std::string{found} : std::string{};
}

} // namespace atelier::config::detail
