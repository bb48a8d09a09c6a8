// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ip/address.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace atelier::runtime::http::detail {

/// Counts connections by client address, so that no client takes all of them.
/// An IPv6 address counts by its first 64 bits, which usually belong to one
/// customer; an IPv4 address mapped into IPv6 counts as the IPv4 address.
/// Threads: any.
class peer_table : public std::enable_shared_from_this<peer_table> {
public:
  /// A peer's place, which the destructor releases.
  class seat {
  public:
    seat() = default;
    ~seat();
    seat(seat&& x) noexcept;
    seat& operator=(seat&& x) noexcept;

  private:
    friend class peer_table;

    seat(std::shared_ptr<peer_table> of, boost::asio::ip::address key)
      : of_(std::move(of)), key_(std::move(key)) {}

    /// Null if nothing is counted.
    std::shared_ptr<peer_table> of_;
    boost::asio::ip::address key_;
  };

  /// @param most connections of one peer; 0: default_most, and no limit for
  ///        this machine's own addresses
  explicit peer_table(uint32_t most) : most_(most) {}

  /// Returns nothing if the peer already has its maximum.
  std::optional<seat> enter(const boost::asio::ip::address& peer);

  /// Sets the limit for new connections. A peer above it keeps its connections.
  void allow(uint32_t most) {
    most_ = most;
  }

  /// Returns the number of peers that have a connection.
  size_t peers() const;

  static constexpr uint32_t default_most = 256;

  /// Returns what an address counts by, as a text; the text itself if it is no
  /// address.
  static std::string network_of(const std::string& address);

private:
  void leave(const boost::asio::ip::address& key);

  std::atomic<uint32_t> most_;
  mutable std::mutex mutex_;
  std::map<boost::asio::ip::address, uint32_t> counts_;
};

} // namespace atelier::runtime::http::detail
