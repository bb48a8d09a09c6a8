// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/transport.hpp>
#include <atelier/simulation/delayed_link.hpp>

#include <map>
#include <memory>

namespace atelier::runtime {

/// One node's end of simulated connections: each record is a delivery in
/// virtual time. A link that is cut loses its records under way; the far end
/// notices after the link's delay.
/// Threads: those that call it and its timers must be one at a time.
class simulated_transport : public actors::transport {
public:
  simulated_transport(actors::node_id self,
                      std::shared_ptr<core::timers> timers);

  /// Links two nodes, in both directions by one script.
  static void link(const std::shared_ptr<simulated_transport>& a,
                   const std::shared_ptr<simulated_transport>& b,
                   const link_script& script = {});

  void connect(actors::transport_events events) override;
  bool send(actors::node_id to, std::vector<std::byte> record) override;
  void cut(actors::node_id to) override;

private:
  struct peer {
    std::weak_ptr<simulated_transport> far;
    std::unique_ptr<delayed_link> out;
  };

  void lose(actors::node_id whom);

  actors::node_id self_;
  std::shared_ptr<core::timers> timers_;
  actors::transport_events events_;
  std::map<actors::node_id, peer> peers_;
};

} // namespace atelier::runtime
