// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ip/address.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace atelier::runtime::http::detail {

/// Connections by the address that they come from, so that none takes all of
/// them. An address of IPv6 counts by its first 64 bits, which one customer has
/// as a rule; one of IPv4 within IPv6 as what it is.
/// Threads: any.
class peer_table : public std::enable_shared_from_this<peer_table> {
public:
  /// A peer's place, which its end gives back.
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

    /// Null where nothing is counted.
    std::shared_ptr<peer_table> of_;
    boost::asio::ip::address key_;
  };

  /// @param most of one peer; 0: default_most, and no limit for this machine's
  ///        own addresses
  explicit peer_table(uint32_t most) : most_(most) {}

  /// None where the peer has as many as it may.
  std::optional<seat> enter(const boost::asio::ip::address& peer);

  /// From now on; who has more keeps them.
  void allow(uint32_t most) {
    most_ = most;
  }

  /// Peers that have a connection.
  size_t peers() const;

  static constexpr uint32_t default_most = 256;

private:
  void leave(const boost::asio::ip::address& key);

  std::atomic<uint32_t> most_;
  mutable std::mutex mutex_;
  std::map<boost::asio::ip::address, uint32_t> counts_;
};

} // namespace atelier::runtime::http::detail
