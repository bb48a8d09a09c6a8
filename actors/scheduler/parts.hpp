// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/local_messages.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/actors/scheduler/forecast.hpp>
#include <atelier/actors/scheduler/hosting.hpp>
#include <atelier/actors/scheduler/matching.hpp>
#include <atelier/actors/scheduler/orders.hpp>
#include <atelier/actors/scheduler/probes.hpp>
#include <atelier/actors/scheduler/questions.hpp>
#include <atelier/actors/scheduler/queues.hpp>
#include <atelier/actors/scheduler/records.hpp>
#include <atelier/actors/scheduler/requests.hpp>
#include <atelier/actors/scheduler/rules.hpp>
#include <atelier/actors/scheduler/slot_shares.hpp>
#include <atelier/actors/scheduler/slots.hpp>
#include <atelier/actors/scheduler/suspicions.hpp>
#include <atelier/actors/scheduler/views.hpp>
#include <atelier/actors/scheduler/workers.hpp>
#include <atelier/actors/stage_path.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/core/time.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/policy.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace atelier::actors {

/// Configuration of the scheduler.
struct scheduler_config {
  core::limits limits;
  config::scheduler_settings pace;
  config::process_settings processes;
  /// The pipeline of a request; null: standard_pipeline().
  std::shared_ptr<const planning::pipeline> stages = nullptr;
  /// Key of the policies' random choices.
  uint64_t seed = 0;
  /// Low half of the arena's epoch, and the number of slots by kind.
  uint32_t arena = 1;
  slot_counts slots = {2, 2, 0};
  std::shared_ptr<const planning::policy> policy;
  std::shared_ptr<const planning::profile> profile;
  std::shared_ptr<const planning::plan> initial_plan;
  /// Devices begin with the steps that an order names, whether or not a stage
  /// wrote such a state. Only simulated devices do.
  bool devices_take_found_work = false;
  /// Overrides how plans let rows join batches; none: no override.
  std::optional<planning::joining> join = {};
  /// An existing image is answered when the time until the deadline falls to
  /// this margin plus twice the recent time for finishing.
  core::timespan answer_margin = std::chrono::milliseconds{25};
};

/// Where the scheduler sends its decisions.
struct scheduler_ports {
  std::shared_ptr<ipc::slot_store> slots;
  std::shared_ptr<handoff> workers;
  std::shared_ptr<gateway> clients;
  std::shared_ptr<supervision> watch;
  /// Null: no timeline is recorded.
  std::shared_ptr<timeline> drawing = nullptr;
};

/// The parts of the scheduler and the readers over them. A part owns its data
/// and knows no other part; the transitions ask parts, and then change them by
/// their verbs.
/// Threads: one at a time.
struct parts {
  parts(scheduler_config config, scheduler_ports ports);

  // The readers refer to the parts.
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;

  const scheduler_config config;
  const scheduler_ports ports;
  const stage_path path;
  actors::slots slots;
  actors::records records;
  actors::rules rules;
  actors::requests requests;
  actors::orders orders;
  actors::workers workers;
  actors::queues queues;
  actors::hosting hosting;
  actors::forecast forecast;
  actors::questions questions;
  actors::suspicions suspicions;
  actors::probes probes;
  actors::views views;
  slot_shares shares;
  actors::matching matching;
};

} // namespace atelier::actors
