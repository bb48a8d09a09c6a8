// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/cache_entries.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

namespace atelier::runtime::http::detail {

namespace {

constexpr uint64_t most_entries = 1000;

/// Reads a whole number of the query; `otherwise` if it is left out.
core::result<uint64_t> whole(const request_message& asked,
                             std::string_view name, uint64_t otherwise,
                             uint64_t least, uint64_t most) {
  const auto said = find_field(asked.query, name);
  if (said.empty())
    return otherwise;
  uint64_t out = 0;
  const auto [end, fault] =
    std::from_chars(said.data(), said.data() + said.size(), out);
  if (fault != std::errc{} || end != said.data() + said.size() || out < least
      || out > most)
    return core::fail(core::ec::invalid_argument,
                      "{} '{}' is not a whole number in {}..{}", name,
                      said.substr(0, 60), least, most);
  return out;
}

bool has_field(const fields& in, std::string_view name) {
  return std::ranges::any_of(in,
                             [&](const auto& x) { return x.first == name; });
}

reply_json entry_json(const cache_entry& x,
                      const std::map<std::string, std::string>& names,
                      std::chrono::system_clock::time_point now) {
  reply_json out{{"entry", x.entry},
                 {"tenant", x.tenant},
                 {"prompt_sha256", x.prompt_sha256},
                 {"model", x.model},
                 {"variant", x.variant},
                 {"size", fmt::format("{}x{}", x.width, x.height)},
                 {"steps", x.steps},
                 {"image", x.image},
                 {"depth", x.depth},
                 {"bytes", x.bytes},
                 {"answers", x.answers},
                 {"saved_steps", x.saved_steps},
                 {"created", x.made},
                 {"age_s", std::max<int64_t>(unix_seconds(now) - x.made, 0)},
                 {"tier", x.tier}};
  if (const auto at = names.find(x.tenant); at != names.end())
    out["key"] = at->second;
  if (x.prompt)
    out["prompt"] = *x.prompt;
  return out;
}

} // namespace

core::result<cache_query> read_cache_query(const request_message& asked) {
  cache_query out;
  const auto limit = whole(asked, "limit", out.most, 1, most_entries);
  if (!limit)
    return limit.why();
  // The numbers of entries have a sign where they are stored.
  const auto after =
    whole(asked, "after", 0, 0,
          static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  if (!after)
    return after.why();
  out.most = static_cast<uint32_t>(*limit);
  out.after = *after;
  if (has_field(asked.query, "key"))
    out.tenant = std::string{find_field(asked.query, "key")};
  return out;
}

std::map<std::string, std::string> names_by_tenant(
  const std::vector<std::string>& names) {
  std::map<std::string, std::string> out{{{}, {}}};
  for (const auto& x : names)
    out.emplace(tenant_digits(x), x);
  return out;
}

reply_json cache_entries_json(const std::vector<cache_entry>& entries,
                              bool has_more,
                              const std::map<std::string, std::string>& names,
                              std::chrono::system_clock::time_point now) {
  auto data = reply_json::array();
  for (const auto& x : entries)
    data.push_back(entry_json(x, names, now));
  return {{"object", "list"}, {"data", data}, {"has_more", has_more}};
}

} // namespace atelier::runtime::http::detail
