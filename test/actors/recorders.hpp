// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/scheduler_rig.hpp"
#include "support/deterministic_system.hpp"
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/gpu/device/executor.hpp>

#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace atelier::test {

/// Keeps the workers' reports.
struct recording_scheduler_port : actors::scheduler_port {
  void send(actors::report what) override {
    if (std::exchange(throws_once, false))
      throw std::bad_alloc{};
    all.push_back(std::move(what));
  }

  /// Returns all reports of type T, in order.
  template <class T>
  std::vector<T> of() const {
    std::vector<T> found;
    for (const auto& x : all)
      if (const auto y = read_as<T>(x))
        found.push_back(*y);
    return found;
  }

  std::vector<actors::report> all;
  bool throws_once = false;
};

/// A device whose every result comes from the test.
struct scripted_executor : gpu::executor {
  void connect(gpu::executor_events x) override {
    events = std::move(x);
  }

  void open(const gpu::open_job& job) override {
    if (open_throws)
      throw std::bad_alloc{};
    opened.push_back(job);
  }

  void run(const gpu::run_job& job) override {
    if (run_throws)
      throw std::bad_alloc{};
    runs.push_back(job);
  }

  void interrupt() override {
    ++interrupts;
  }

  void decode(core::ticket who) override {
    decoding.push_back(who);
  }

  void close(core::ticket who) override {
    closed.push_back(who);
  }

  void forget(const std::vector<core::variant_id>& variants) override {
    forgotten.insert(forgotten.end(), variants.begin(), variants.end());
  }

  /// Ends the last run. `done` has the new step counts of its rows.
  void ran(uint32_t steps, std::vector<uint32_t> done,
           const core::error& why_last = {}, core::timespan opening = {},
           core::timespan step = {}) {
    gpu::run_report x;
    x.steps = steps;
    x.opening = opening;
    x.took = opening + steps * step;
    const auto rows = runs.back().rows;
    for (size_t i = 0; i < rows.size(); ++i)
      x.rows.push_back({rows[i], done.at(i), done.at(i) > 0, {}});
    x.rows.back().failure = why_last;
    events.ran(std::move(x));
  }

  void decoded(core::ticket who, core::error why = {}) {
    gpu::decode_report x;
    x.ticket = who;
    x.bytes = 5;
    x.failure = std::move(why);
    events.decoded(std::move(x));
  }

  gpu::executor_events events;
  std::vector<gpu::open_job> opened;
  std::vector<gpu::run_job> runs;
  std::vector<core::ticket> decoding;
  std::vector<core::ticket> closed;
  std::vector<core::variant_id> forgotten;
  int interrupts = 0;
  bool open_throws = false;
  bool run_throws = false;
};

/// The messages to a scheduler that only listens.
struct heard_by_scheduler {
  std::vector<ipc::process_life> suspected;
  std::vector<std::pair<ipc::process_life, bool>> lost;
  /// The causes of the losses, in the same order.
  std::vector<actors::death> causes;
  std::vector<std::shared_ptr<const planning::plan>> plans;
  actors::counters counts;
  /// Whether it answers requests for its counts.
  bool answers = true;
};

/// Behaves as a scheduler that only listens.
inline actors::scheduler_actor::behavior_type listening_scheduler(
  actors::scheduler_actor::pointer self,
  std::shared_ptr<heard_by_scheduler> into) {
  using namespace actors;
  return {
    [](const submit&) {},
    [](const trial_noted&) {},
    [](const cancel_request&) {},
    [](const taken_answer&) {},
    [](const worker_ready&) {},
    [](const stage_done&) {},
    [](const stepping&) {},
    [](const stepped&) {},
    [](const denoised&) {},
    [](const adopted&) {},
    [](const has_order&) {},
    [](const wish_hosting&) {},
    [into](const process_suspected& x) {
      into->suspected.push_back(x.process);
    },
    [into](const process_lost& x) {
      into->lost.emplace_back(x.process, x.confirmed);
      into->causes.push_back(x.cause);
    },
    [into](const publish_plan& x) { into->plans.push_back(x.plan); },
    [](tick_atom) {},
    [](stop_atom) {},
    [self, into](counts_atom) -> caf::result<counters> {
      if (into->answers)
        return into->counts;
      // The promise is kept and never answered.
      static_cast<void>(self->make_response_promise<counters>());
      return caf::delegated<counters>{};
    },
    [](status_atom) { return scheduler_status{}; },
  };
}

} // namespace atelier::test
