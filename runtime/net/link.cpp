// SPDX-License-Identifier: Apache-2.0

//  opening end          CAF's broker          accepting end
//      |  connect             |    (publishes itself)  |
//      |--------------------->|<---------------------- |
//      |  the far end's link  |                        |
//      |<---------------------|                        |
//      |  hello                                        |
//      |---------------------------------------------->|  checks
//      |  answer                                       |
//      |<----------------------------------------------|  a link from here on
//      |  record, record, ...        taken             |
//      |<--------------------------------------------->|
//      |  beat, four times an idle limit               |
//      |<--------------------------------------------->|
//  Loss: CAF's down message; silence, a cut and a refusal shut the socket down.

#include <atelier/actors/exception_border.hpp>
#include <atelier/runtime/net/link.hpp>

#include <caf/actor_cast.hpp>

#include <cstring>
#include <set>
#include <utility>

namespace atelier::runtime {

namespace {

using core::ec;

/// Four records of full length.
constexpr size_t window = 4 * cost_of(actors::most_record_bytes);
/// With this much unreturned the far end still has credit for a full record.
constexpr uint64_t tell_from = cost_of(actors::most_record_bytes) / 2;
constexpr uint32_t ticks_of_silence = 4;
/// CAF wants a port to find the far end's actor; it names no socket.
constexpr uint16_t only_port = 1;

core::error stopped() {
  return core::fail(ec::stopping, "the node is stopping");
}

} // namespace

std::optional<core::error> mismatch(const link_hello& own,
                                    const link_hello& from,
                                    std::optional<actors::node_id> expected) {
  if (from.protocol != own.protocol)
    return core::fail(ec::incompatible, "link protocol {}, here {}",
                      from.protocol, own.protocol);
  if (from.build != own.build)
    return core::fail(ec::incompatible, "build {:016x}, here {:016x}",
                      from.build, own.build);
  if (from.boot == own.boot)
    return core::fail(ec::invalid_argument,
                      "the far end is this very start of node {}", own.node);
  if (from.node == own.node)
    return core::fail(ec::invalid_argument,
                      "node {} is the number of both ends", own.node);
  if (expected && expected->value != from.node)
    return core::fail(ec::invalid_argument, "node {} came, not node {}",
                      from.node, expected->value);
  return {};
}

void link_state::open() {
  if (!config.table->began(caf::actor_cast<caf::actor>(self)))
    return end(stopped());
  self->delayed_send(self, config.patience, link_end{});
  self->delayed_send(self, config.idle / (ticks_of_silence + 1), link_tick{});
  if (config.side == link_side::accepts) {
    self->send(config.broker, caf::publish_atom::value,
               std::move(config.socket), only_port,
               caf::actor_cast<caf::strong_actor_ptr>(self),
               std::set<std::string>{});
    return;
  }
  const auto failed = [this](const caf::error&) {
    end(core::fail(ec::unavailable, "the far end does not speak"));
  };
  self
    ->request(config.broker, caf::infinite, caf::connect_atom::value,
              std::move(config.socket), only_port)
    .then(
      [this, failed](caf::node_id&, caf::strong_actor_ptr& far,
                     std::set<std::string>&) {
        if (stage != link_stage::greeting || !far)
          return failed({});
        peer = far;
        self->monitor(peer);
        self
          ->request(caf::actor_cast<caf::actor>(peer), caf::infinite,
                    config.own)
          .then([this](link_answer& x) { complete(x); }, failed);
      },
      failed);
}

link_answer link_state::answer(const link_hello& from) {
  if (stage != link_stage::greeting || config.side != link_side::accepts
      || peer)
    return {config.own, "a hello out of order"};
  auto why = mismatch(config.own, from, config.expected);
  if (!why
      && !config.table->enter(actors::node_id{from.node},
                              {caf::actor_cast<caf::actor>(self), config.end}))
    why = core::fail(ec::unavailable, "node {} is linked already", from.node);
  if (why) {
    // The far end receives the reason, and this end ends when its patience is
    // over: cutting now would overtake the answer.
    config.told(*why);
    config.told = nullptr;
    return {config.own, why->text};
  }
  peer = self->current_sender();
  self->monitor(peer);
  stand(from);
  return {config.own, {}};
}

void link_state::complete(const link_answer& from) {
  if (stage != link_stage::greeting)
    return;
  auto why = mismatch(config.own, from.from, config.expected);
  if (!why && !from.refusal.empty())
    why = core::fail(ec::unavailable, "the far end refuses: {}", from.refusal);
  if (!why
      && !config.table->enter(actors::node_id{from.from.node},
                              {caf::actor_cast<caf::actor>(self), config.end}))
    why =
      core::fail(ec::unavailable, "node {} is linked already", from.from.node);
  if (why)
    return end(std::move(*why));
  stand(from.from);
}

void link_state::stand(const link_hello& from) {
  node = actors::node_id{from.node};
  stage = link_stage::standing;
  std::exchange(config.told, nullptr)(node);
}

void link_state::send(std::vector<char> bytes) {
  waiting.push_back(std::move(bytes));
  flush();
}

void link_state::flush() {
  while (stage == link_stage::standing && !waiting.empty()) {
    const auto cost = cost_of(waiting.front().size());
    if (on_the_way + cost > window)
      return;
    on_the_way += cost;
    self->send(caf::actor_cast<caf::actor>(peer),
               link_record{std::move(waiting.front())});
    waiting.pop_front();
  }
}

void link_state::receive(const std::vector<char>& bytes) {
  if (bytes.size() > actors::most_record_bytes)
    return end(
      core::fail(ec::bad_payload, "a record of {} bytes", bytes.size()));
  std::vector<std::byte> record(bytes.size());
  if (!bytes.empty())
    std::memcpy(record.data(), bytes.data(), bytes.size());
  if (config.events->on_record)
    config.events->on_record(node, std::move(record));
  untold += cost_of(bytes.size());
  if (untold >= tell_from)
    self->send(caf::actor_cast<caf::actor>(peer),
               link_taken{std::exchange(untold, 0)});
}

void link_state::give_back(uint64_t cost) {
  if (cost > on_the_way)
    return end(core::fail(ec::bad_payload, "credit for {} bytes of {}", cost,
                          on_the_way));
  on_the_way -= cost;
  config.end->release(cost);
  flush();
}

void link_state::tick() {
  self->delayed_send(self, config.idle / (ticks_of_silence + 1), link_tick{});
  if (stage != link_stage::standing)
    return;
  if (++silent > ticks_of_silence)
    return end(core::fail(ec::unavailable, "no sign of life"));
  self->send(caf::actor_cast<caf::actor>(peer), link_beat{});
}

void link_state::leave(link_end x) {
  if (x.stopping) {
    // A node that stops gets no report of the loss that it causes itself.
    if (stage == link_stage::standing)
      config.events = std::make_shared<const actors::transport_events>();
    end(stopped());
  } else if (stage == link_stage::greeting) {
    end(core::fail(ec::unavailable, "the far end does not speak in time"));
  }
}

bool link_state::from_peer() {
  if (stage != link_stage::standing || self->current_sender() != peer)
    return false;
  silent = 0;
  return true;
}

void link_state::end(core::error why) {
  const auto was = std::exchange(stage, link_stage::over);
  if (was == link_stage::over)
    return;
  config.end->cut();
  config.table->ended(caf::actor_cast<caf::actor>(self));
  self->quit();
  if (was == link_stage::standing) {
    // First, so that a listener of the loss may join again.
    config.table->leave(node);
    if (config.events->on_lost)
      config.events->on_lost(node);
  } else if (config.told) {
    std::exchange(config.told, nullptr)(std::move(why));
  }
}

caf::behavior link(caf::stateful_actor<link_state>* self, link_config how) {
  actors::install_exception_border(self);
  auto& state = self->state;
  state.self = self;
  state.config = std::move(how);
  // Ignores anything else that an admitted far end sends.
  self->set_default_handler(caf::drop);
  self->set_down_handler([self](caf::down_msg&) {
    self->state.end(core::fail(ec::unavailable, "the far end is gone"));
  });
  state.open();
  return {[self](const link_hello& x) { return self->state.answer(x); },
          [self](link_send& x) { self->state.send(std::move(x.bytes)); },
          [self](const link_record& x) {
            if (self->state.from_peer())
              self->state.receive(x.bytes);
          },
          [self](link_taken x) {
            if (self->state.from_peer())
              self->state.give_back(x.cost);
          },
          [self](link_beat) { self->state.from_peer(); },
          [self](link_tick) { self->state.tick(); },
          [self](link_end x) { self->state.leave(x); }};
}

} // namespace atelier::runtime
