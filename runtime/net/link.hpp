// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/net/link_messages.hpp>
#include <atelier/runtime/net/link_table.hpp>
#include <atelier/runtime/net/link_transport.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/io/scribe.hpp>
#include <caf/stateful_actor.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime {

/// Configuration of one end of a link.
struct link_config {
  link_side side = link_side::opens;
  link_hello own;
  core::timespan idle{};
  core::timespan patience{};
  std::optional<actors::node_id> expected;
  link_transport::joined told;
  std::shared_ptr<const actors::transport_events> events;
  std::shared_ptr<link_table> table;
  std::shared_ptr<link_end_point> end;
  /// CAF's broker, and the socket until the broker takes it.
  caf::actor broker;
  caf::io::scribe_ptr socket;
};

/// State of a connection: before, during and after the link.
enum class link_stage : uint8_t { greeting, standing, over };

struct link_state {
  static inline const char* name = "link";

  caf::event_based_actor* self = nullptr;
  link_config config;
  link_stage stage = link_stage::greeting;
  caf::strong_actor_ptr peer;
  actors::node_id node;
  /// Records that wait for credit.
  std::deque<std::vector<char>> waiting;
  size_t on_the_way = 0;
  /// Cost of received records whose credit has not been returned yet.
  uint64_t untold = 0;
  /// Ticks since the last sign of life. Ticks are counted instead of time: if
  /// this process itself was stopped, messages that arrived meanwhile are read
  /// before the next tick.
  uint32_t silent = 0;

  void open();
  link_answer answer(const link_hello& from);
  void complete(const link_answer& from);
  void send(std::vector<char> bytes);
  void flush();
  void receive(const std::vector<char>& bytes);
  void give_back(uint64_t cost);
  void tick();
  void leave(link_end x);
  void end(core::error why);
  /// Whether the current message is the far end's; it counts as a sign of life.
  bool from_peer();

private:
  void stand(const link_hello& from);
};

/// Behaves as one end of one link.
caf::behavior link(caf::stateful_actor<link_state>* self, link_config how);

/// Returns why `from` is not a partner of `own`; empty if it is one.
std::optional<core::error> mismatch(const link_hello& own,
                                    const link_hello& from,
                                    std::optional<actors::node_id> expected);

/// Returns what a record takes of a link's credit and of the bytes that may
/// wait.
constexpr size_t cost_of(size_t bytes) {
  return bytes + 256;
}

} // namespace atelier::runtime
