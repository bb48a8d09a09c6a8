// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/pipeline.hpp>

#include <functional>
#include <memory>
#include <string_view>

namespace atelier::actors {

/// Configuration of a pool's worker.
struct stage_worker_config {
  worker_address self;
  /// Number of orders that it holds at a time; it processes them one by one.
  uint32_t seats = 1;
  std::shared_ptr<const planning::pipeline> stages;
  std::shared_ptr<ipc::slot_store> slots;
  std::shared_ptr<scheduler_port> scheduler;
  /// Set in simulations: the profile from which a stage predicts the duration
  /// of its work, which the reply then reports. Null: the measured duration.
  std::shared_ptr<const planning::profile> said = nullptr;
};

struct stage_worker_state {
  stage_worker_config config;
};

/// The same worker under the name of each pool, by which logs and metrics
/// identify it.
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

/// Run the ordered stages, one after the other. Each announces itself at its
/// start.
/// Threads: computes in its handlers, waits for nothing.
stage_actor::behavior_type preprocess(
  self_of<stage_actor, preprocess_state> self, stage_worker_config config);
stage_actor::behavior_type postprocess(
  self_of<stage_actor, postprocess_state> self, stage_worker_config config);
stage_actor::behavior_type classifier(
  self_of<stage_actor, classifier_state> self, stage_worker_config config);
stage_actor::behavior_type recall(self_of<stage_actor, recall_state> self,
                                  stage_worker_config config);

/// Does the ordered work; pure except for the slots, the clock, and the state
/// of the stage itself. An error becomes the reply's failure.
/// @param device the name of the device on whose thread it runs; empty: none
stage_done do_stage(const run_stage& order, const planning::pipeline& stages,
                    ipc::slot_store& slots,
                    const std::function<core::time_point()>& now,
                    std::string_view device = {});

} // namespace atelier::actors
