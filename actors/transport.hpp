// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace atelier::actors {

/// Identifies a node of a cluster; 0 is the node that schedules.
using node_id = core::strong_id<struct node_tag>;

/// Maximum length of a record; longer data is sent in parts.
inline constexpr size_t most_record_bytes = 256u << 10;

/// Handlers of a transport's events. Called from any thread, one call at a time
/// for each node; must not block.
struct transport_events {
  /// A record arrived, whole and in the order of sending.
  std::function<void(node_id, std::vector<std::byte>)> on_record;
  /// The link to a node is lost: nothing more arrives from it. Called once for
  /// each link, after its last record; records that are being sent there may be
  /// lost.
  std::function<void(node_id)> on_lost;
};

/// Interface that carries records between nodes. Live: an authenticated
/// connection; simulated: mailboxes with delay.
/// Threads: any; never blocks.
class transport {
public:
  virtual ~transport() = default;

  /// Sets the event handlers. Called once, before anything is sent.
  virtual void connect(transport_events events) = 0;

  /// Sends a record. Returns false and sends nothing if no link to `to` exists,
  /// if the link's backlog is full, or if the record is too long.
  virtual bool send(node_id to, std::vector<std::byte> record) = 0;

  /// Ends the link to a node at once; both ends get `on_lost`.
  virtual void cut(node_id to) = 0;
};

} // namespace atelier::actors
