// SPDX-License-Identifier: Apache-2.0
#pragma once

// The processes of the scheduler's random schedules.

#include <atelier/actors/messages.hpp>
#include <atelier/actors/scheduler/scheduler.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace atelier::test {

/// One row in a device.
struct device_row {
  actors::denoise what;
  uint32_t steps_done = 0;
  uint32_t steps_run = 0;
  bool published = false;
  bool cancelled = false;
};

/// One life of a process, or the time between two lives.
struct random_process {
  uint32_t index = 0;
  uint32_t life = 0;
  bool device = false;
  uint32_t max_batch = 1;
  uint32_t publish_every = 1;
  bool alive = false;
  bool hung = false;
  bool suspected = false;
  bool lost = false;
  // The cause of death, if it is not alive.
  actors::death cause = actors::death::outside;
  // The workers that the scheduler found silent. It is empty if the supervisor
  // found the process silent.
  std::set<actors::role> silent;
  std::deque<std::pair<actors::worker_address, actors::work>> inbox;
  std::deque<actors::report> outbox;
  std::map<core::ticket, device_row> rows;
  std::vector<core::ticket> told;
  // The rows, or the stage, that each worker of a device was last heard to run,
  // and the dispatches that the scheduler knows of.
  std::map<actors::role, std::vector<core::ticket>> heard;
  std::set<core::ticket> outstanding;
  // The orders of each pool's worker, in sequence.
  std::map<actors::role, std::deque<core::ticket>> orders;
  // Its workers that the scheduler has accepted.
  std::set<actors::role> there;
  // Workers that have stopped for now, each with its late reply. A worker
  // without a reply stays stopped.
  std::map<actors::role, std::optional<actors::report>> stopped;

  ipc::process_life who() const {
    return {core::process_id{index}, core::incarnation{life}};
  }

  // Returns whether this is the control process, whose end is also the
  // scheduler's.
  bool control() const {
    return index == 0;
  }
};

inline bool succeeded(const actors::report& x) {
  return std::visit(
    [](const auto& y) {
      if constexpr (requires { y.failure; })
        return y.failure.code == core::ec::none;
      else
        return false;
    },
    x);
}

inline core::ticket ticket_of(const actors::report& x) {
  if (const auto* s = std::get_if<actors::stage_done>(&x))
    return s->ticket;
  if (const auto* d = std::get_if<actors::denoised>(&x))
    return d->ticket;
  return {};
}

} // namespace atelier::test
