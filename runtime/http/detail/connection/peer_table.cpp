// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/peer_table.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

using boost::asio::ip::address;
using boost::asio::ip::address_v6;

/// What a peer is counted by.
address key_of(const address& peer) {
  if (!peer.is_v6())
    return peer;
  const auto x = peer.to_v6();
  if (x.is_v4_mapped())
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, x);
  if (x.is_loopback())
    return peer;
  auto bytes = x.to_bytes();
  std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), uint8_t{0});
  return address_v6{bytes, x.scope_id()};
}

} // namespace

peer_table::seat::~seat() {
  if (of_)
    of_->leave(key_);
}

peer_table::seat::seat(seat&& x) noexcept
  : of_(std::exchange(x.of_, nullptr)), key_(std::move(x.key_)) {}

peer_table::seat& peer_table::seat::operator=(seat&& x) noexcept {
  std::swap(of_, x.of_);
  std::swap(key_, x.key_);
  return *this;
}

std::optional<peer_table::seat> peer_table::enter(const address& peer) {
  auto key = key_of(peer);
  if (most_ == 0 && key.is_loopback())
    return seat{};
  const std::lock_guard guard{mutex_};
  auto& count = counts_[key];
  if (const uint32_t most = most_; count >= (most == 0 ? default_most : most))
    return std::nullopt;
  ++count;
  return seat{shared_from_this(), std::move(key)};
}

size_t peer_table::peers() const {
  const std::lock_guard guard{mutex_};
  return counts_.size();
}

std::string peer_table::network_of(const std::string& text) {
  boost::system::error_code fault;
  const auto x = boost::asio::ip::make_address(text, fault);
  return fault ? text : key_of(x).to_string();
}

void peer_table::leave(const address& key) {
  const std::lock_guard guard{mutex_};
  const auto i = counts_.find(key);
  if (i != counts_.end() && --i->second == 0)
    counts_.erase(i);
}

} // namespace atelier::runtime::http::detail
