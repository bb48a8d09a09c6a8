// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/network.hpp>
#include <atelier/runtime/http/detail/wrong_keys.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

bool is_own(std::string_view client) {
  static const auto four = config::parse_network("127.0.0.0/8");
  static const auto six = config::parse_network("::1");
  const auto x = config::parse_address(client);
  return x && (contains(*four, *x) || contains(*six, *x));
}

} // namespace

wrong_keys::address wrong_keys::key_of(std::string_view client) {
  static const auto four = config::parse_network("0.0.0.0/0");
  // A client without an address, which a proxy hides, is one with the others.
  auto x = config::parse_address(client).value_or(config::network{});
  if (!contains(*four, x))
    std::fill(x.address.begin() + 8, x.address.end(), uint8_t{0});
  return x.address;
}

double wrong_keys::left_at(const tries& x, core::time_point now) {
  const auto since = now > x.since ? core::to_seconds(now - x.since) : 0;
  return std::min(burst, x.left + since * per_minute / 60);
}

core::timespan wrong_keys::wait(std::string_view client,
                                core::time_point now) const {
  if (is_own(client))
    return {};
  const std::lock_guard guard{mutex_};
  const auto i = clients_.find(key_of(client));
  if (i == clients_.end())
    return {};
  const auto left = left_at(i->second, now);
  return left >= 1
         ? core::timespan{}
         : core::from_seconds((1 - left) * 60 / per_minute) + core::timespan{1};
}

std::optional<uint64_t> wrong_keys::count(std::string_view client,
                                          core::time_point now) {
  const std::lock_guard guard{mutex_};
  const auto key = key_of(client);
  if (clients_.size() >= most_clients && !clients_.contains(key))
    clients_.erase(std::min_element(clients_.begin(), clients_.end(),
                                    [](const auto& a, const auto& b) {
                                      return a.second.since < b.second.since;
                                    }));
  auto [i, fresh] = clients_.try_emplace(key);
  auto& x = i->second;
  x.left = fresh ? burst - 1 : std::max(0.0, left_at(x, now) - 1);
  x.since = fresh ? now : std::max(x.since, now);
  ++x.untold;
  if (x.told && now - *x.told < std::chrono::minutes{1})
    return std::nullopt;
  x.told = now;
  return std::exchange(x.untold, 0);
}

} // namespace atelier::runtime::http::detail
