// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/wiring.hpp>

#include <caf/actor_cast.hpp>

#include <utility>

namespace atelier::actors {

namespace {

stage_actor spawn_worker(caf::actor_system& sys, stage_worker_config with) {
  switch (with.self.role) {
    case role::postprocess:
      return sys.spawn(postprocess, std::move(with));
    case role::classifier:
      return sys.spawn(classifier, std::move(with));
    case role::recall:
      return sys.spawn(recall, std::move(with));
    case role::preprocess:
    case role::denoise_step:
    case role::device_stage:
      break;
  }
  return sys.spawn(preprocess, std::move(with));
}

} // namespace

control_actors spawn_control(caf::actor_system& sys, control_config with) {
  const auto& scheduling = with.scheduler.tables;
  with.scheduler.ports.watch = with.watch;
  with.planner.policy = scheduling.policy;
  with.planner.profile = scheduling.profile;
  with.planner.initial_plan = scheduling.initial_plan;

  control_actors x;
  x.scheduler = sys.spawn(scheduler_behavior, std::move(with.scheduler));
  with.reports->connect(x.scheduler);
  with.monitor.scheduler = x.scheduler;
  x.monitor = sys.spawn(monitor, with.monitor);
  with.planner.scheduler = x.scheduler;
  with.planner.counts = x.monitor;
  x.planner = sys.spawn(planner, std::move(with.planner));
  with.supervisor.scheduler = x.scheduler;
  x.supervisor = sys.spawn(supervisor, std::move(with.supervisor));
  with.watch->connect(x.supervisor, x.planner);
  return x;
}

std::vector<caf::actor> spawn_pool(caf::actor_system& sys,
                                   worker_directory& into, ipc::process_life in,
                                   pool_size size, stage_worker_config each) {
  std::vector<caf::actor> out;
  each.seats = size.seats;
  for (uint32_t i = 0; i < size.workers; ++i) {
    each.self = {in, size.of, i};
    const auto x =
      into.add_new(size.of, [&] { return spawn_worker(sys, each); });
    out.push_back(caf::actor_cast<caf::actor>(x));
  }
  return out;
}

denoise_step_actor spawn_device(caf::actor_system& sys, worker_directory& into,
                                denoise_step_config with) {
  return into.add_new([&] { return sys.spawn(denoise_step, std::move(with)); });
}

stage_actor spawn_device_stage(caf::actor_system& sys, worker_directory& into,
                               device_stage_config with) {
  return into.add_new(role::device_stage,
                      [&] { return sys.spawn(device_stage, std::move(with)); });
}

} // namespace atelier::actors
