// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/stage_orders.hpp"
#include <atelier/actors/messages.hpp>

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

/// Follows from the messages only, without the keeper, which workers may write
/// and read each slot: from the hand-off to the worker's reply or to the
/// certain end of its process.
class watched_slots {
public:
  /// Notes the rights that the work gives its worker. Returns the fault, or an
  /// empty string.
  std::string handed_off(const actors::worker_address& to,
                         const actors::work& what) {
    std::vector<std::pair<ipc::slot_ref, bool>> slots;
    core::ticket who;
    if (const auto* order = std::get_if<actors::run_stage>(&what)) {
      who = order->ticket;
      for (const auto& slot : order->writes.slots)
        if (slot)
          slots.emplace_back(slot, true);
      for (const auto& slot : order->reads.slots)
        if (slot)
          slots.emplace_back(slot, false);
    } else if (const auto* d = std::get_if<actors::denoise>(&what)) {
      who = d->ticket;
      slots = {{d->state, true}, {d->image, true}, {d->from, false}};
      if (d->source)
        slots.emplace_back(d->source, false);
    }
    for (const auto& [slot, writes] : slots) {
      auto& uses = of_[{slot.kind, slot.slot}];
      for (const auto& other : uses) {
        if (other.slot.generation != slot.generation)
          return fmt::format("{} slot {} given to request {} while request {} "
                             "{} it",
                             to_string(slot.kind), slot.slot, who.id.value,
                             other.who.id.value,
                             other.writes ? "writes" : "reads");
        if (writes)
          return fmt::format("{} slot {} has two writers", to_string(slot.kind),
                             slot.slot);
      }
      uses.push_back({slot, who, to.process, writes});
    }
    return {};
  }

  /// The worker has finished with everything of that ticket.
  void replied(core::ticket who) {
    erase([&](const use& x) { return x.who == who; });
  }

  /// The worker has read its first state to the end.
  void published(core::ticket who) {
    erase([&](const use& x) {
      return x.who == who && !x.writes && x.slot.kind == ipc::slot_kind::state;
    });
  }

  /// The process no longer writes or reads.
  void gone(ipc::process_life where) {
    erase([&](const use& x) { return x.where == where; });
  }

private:
  struct use {
    ipc::slot_ref slot;
    core::ticket who;
    ipc::process_life where;
    bool writes = false;
  };

  template <class F>
  void erase(F done) {
    for (auto& [slot, uses] : of_)
      std::erase_if(uses, done);
  }

  std::map<std::pair<ipc::slot_kind, uint32_t>, std::vector<use>> of_;
};

} // namespace atelier::test
