// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/pipeline.hpp>

#include <functional>
#include <memory>

namespace atelier::actors {

/// What a worker of a pool is made of.
struct stage_worker_config {
  worker_address self;
  /// Orders that it is given at a time; it works them off one by one.
  uint32_t seats = 1;
  std::shared_ptr<const planning::pipeline> stages;
  std::shared_ptr<ipc::slot_store> slots;
  std::shared_ptr<hub_port> hub;
  /// In simulations: by what a stage says how long its work takes, which then
  /// stands in its reply. Null: what it took.
  std::shared_ptr<const planning::profile> said = nullptr;
};

struct stage_worker_state {
  stage_worker_config config;
};

/// The same worker under the name of each pool, by which logs and metrics know
/// it.
struct preprocess_state : stage_worker_state {
  static inline const char* name = "preprocess";
};

struct postprocess_state : stage_worker_state {
  static inline const char* name = "postprocess";
};

struct classifier_state : stage_worker_state {
  static inline const char* name = "classifier";
};

struct recall_state : stage_worker_state {
  static inline const char* name = "recall";
};

/// Runs the stages that it is ordered to, one after the other. Each announces
/// itself at its start.
/// Threads: computes in its handlers, waits for nothing.
stage_actor::behavior_type preprocess(
  self_of<stage_actor, preprocess_state> self, stage_worker_config config);
stage_actor::behavior_type postprocess(
  self_of<stage_actor, postprocess_state> self, stage_worker_config config);
stage_actor::behavior_type classifier(
  self_of<stage_actor, classifier_state> self, stage_worker_config config);
stage_actor::behavior_type recall(self_of<stage_actor, recall_state> self,
                                  stage_worker_config config);

/// Does what is ordered; pure but for the slots, the clock, and what the stage
/// itself holds. What goes wrong is the reply's failure.
stage_done do_stage(const run_stage& order, const planning::pipeline& stages,
                    ipc::slot_store& slots,
                    const std::function<core::time_point()>& now);

} // namespace atelier::actors
