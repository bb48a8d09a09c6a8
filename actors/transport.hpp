// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace atelier::actors {

/// Names a node of a cluster; 0 is the one that schedules.
using node_id = core::strong_id<struct node_tag>;

/// A record is at most this long; what is longer goes in parts.
inline constexpr size_t most_record_bytes = 256u << 10;

/// Receives what a transport brings. Called from any thread, one call at a time
/// for each node; must not block.
struct transport_events {
  /// A record came, whole and in the order of sending.
  std::function<void(node_id, std::vector<std::byte>)> on_record;
  /// The link to a node is lost: nothing more comes from it. Once for each
  /// link, after its last record; records on their way there may be lost.
  std::function<void(node_id)> on_lost;
};

/// Seam: carries records between nodes. Live: an authenticated connection;
/// simulated: mailboxes with delay.
/// Threads: any; never blocks.
class transport {
public:
  virtual ~transport() = default;

  /// Tells where events go. Once, before anything is sent.
  virtual void connect(transport_events events) = 0;

  /// Sends a record. False, with nothing sent, where there is no link to `to`,
  /// where as much waits for it as may, or for a record that is too long.
  virtual bool send(node_id to, std::vector<std::byte> record) = 0;

  /// Ends the link to a node at once; both ends get `on_lost`.
  virtual void cut(node_id to) = 0;
};

} // namespace atelier::actors
