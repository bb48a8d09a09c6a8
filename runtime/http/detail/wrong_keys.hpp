// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace atelier::runtime::http::detail {

/// Counts the wrong keys of each client, so that none tries many. As in
/// peer_table, an IPv6 client is one /64, and this machine's own addresses may
/// try any number: a proxy that is not trusted brings all clients from there.
/// Threads: any.
class wrong_keys {
public:
  /// A client may send so many wrong keys at once, and then so many a minute.
  static constexpr double burst = 30;
  static constexpr double per_minute = 30;
  /// The maximum number of clients. Whoever tried longest ago is forgotten.
  static constexpr size_t most_clients = 4096;

  /// Returns how long the client's keys are refused without a look at them;
  /// zero if they are not.
  core::timespan wait(std::string_view client, core::time_point now) const;

  /// Counts a wrong key. Returns the number of those that the log has not told
  /// yet, if it is to tell them: it does so once a minute for each client.
  std::optional<uint64_t> count(std::string_view client, core::time_point now);

private:
  using address = std::array<uint8_t, 16>;

  struct tries {
    double left = burst;
    core::time_point since;
    std::optional<core::time_point> told;
    uint64_t untold = 0;
  };

  static address key_of(std::string_view client);
  static double left_at(const tries& x, core::time_point now);

  mutable std::mutex mutex_;
  std::map<address, tries> clients_;
};

} // namespace atelier::runtime::http::detail
