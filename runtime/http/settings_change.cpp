// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/schema.hpp>
#include <atelier/runtime/http/settings_change.hpp>

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace atelier::runtime::http {

namespace {

using config::settings;

/// Copies what a running server takes over. The one list of it.
void apply(settings& to, const settings& from) {
  auto& x = to.http;
  const auto& y = from.http;
  to.log.level = from.log.level;
  if (x.keys.empty() == y.keys.empty())
    x.keys = y.keys;
  if (x.certificate.empty() == y.certificate.empty()) {
    x.certificate = y.certificate;
    x.private_key = y.private_key;
  }
  x.origins = y.origins;
  x.trusted_proxies = y.trusted_proxies;
  x.connections = y.connections;
  x.connections_of_peer = y.connections_of_peer;
  x.header_bytes = y.header_bytes;
  x.body_bytes = y.body_bytes;
  x.bodies_bytes = y.bodies_bytes;
  x.unsent_bytes = y.unsent_bytes;
  x.replies_bytes = y.replies_bytes;
  x.read = y.read;
  x.idle = y.idle;
}

/// Whether a section's tables are as many in both.
bool same_count(const config::option& x, const settings& a, const settings& b) {
  return config::count_of(x, a) == config::count_of(x, b);
}

std::string text_of(const config::option& x, const settings& in, size_t index) {
  return config::value_text(x, config::look_at(x, in, index));
}

} // namespace

config::settings with_applied(const settings& before, const settings& after) {
  auto out = before;
  apply(out, after);
  return out;
}

std::vector<setting_change> changes_between(const settings& before,
                                            const settings& after) {
  const auto applied = with_applied(before, after);
  std::vector<setting_change> out;
  std::string_view told;
  for (const auto& x : config::options()) {
    if (!same_count(x, before, after)) {
      if (std::exchange(told, x.section) != x.section)
        out.push_back({std::string{x.section},
                       fmt::format("{} tables", config::count_of(x, before)),
                       fmt::format("{} tables", config::count_of(x, after)),
                       false});
      continue;
    }
    for (size_t i = 0; i < config::count_of(x, before); ++i) {
      auto was = text_of(x, before, i);
      auto is = text_of(x, after, i);
      if (was == is)
        continue;
      const bool applies = text_of(x, applied, i) == is;
      out.push_back(
        {config::key_of(x, i), std::move(was), std::move(is), applies});
    }
  }
  return out;
}

} // namespace atelier::runtime::http
