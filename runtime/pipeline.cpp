// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/denoise_step.hpp>
#include <atelier/actors/monitor.hpp>
#include <atelier/actors/planner.hpp>
#include <atelier/actors/postprocess.hpp>
#include <atelier/actors/preprocess.hpp>
#include <atelier/actors/scheduler.hpp>
#include <atelier/actors/supervisor.hpp>
#include <atelier/config/device_kind.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/runtime/make_executor.hpp>
#include <atelier/runtime/pipeline.hpp>

#include <caf/actor_cast.hpp>
#include <caf/atom.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace atelier::runtime {

std::optional<planning::joining> joining_of(std::string_view batching) {
  if (batching == "step")
    return planning::joining::step;
  if (batching == "whole_batch")
    return planning::joining::whole_batch;
  if (batching == "single")
    return planning::joining::single;
  return std::nullopt;
}

system_config::system_config(size_t threads) {
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", threads);
  set("logger.file-verbosity", caf::atom("quiet"));
  add_message_types<caf::id_block::atelier>();
}

control_actors spawn_control(caf::actor_system& sys, const part_context& with,
                             const control_context& control) {
  const auto& s = with.settings;
  // Without workers every policy's first plan is its default one.
  const auto first_plan = std::make_shared<const planning::plan>(
    control.policy->replan({}, *with.profile, {}, {}));

  actors::scheduler_config hub;
  hub.tick = s.scheduler.tick;
  hub.tables.limits = s.limits;
  hub.tables.pace = s.scheduler;
  hub.tables.processes = s.processes;
  hub.tables.arena = control.arena;
  hub.tables.slots = {s.arena.state_slots, s.arena.image_slots,
                      s.arena.capture_slots};
  hub.tables.policy = control.policy;
  hub.tables.profile = with.profile;
  hub.tables.initial_plan = first_plan;
  hub.tables.join = joining_of(s.scheduler.batching);
  hub.ports = {with.slots,    control.workers, control.clients,
               control.watch, nullptr,         control.drawing};

  control_actors x;
  x.scheduler = sys.spawn(actors::scheduler, std::move(hub));
  control.hub->connect(x.scheduler);

  x.monitor = sys.spawn(
    actors::monitor,
    actors::monitor_config{x.scheduler, s.monitor.window, s.monitor.windows});
  x.planner = sys.spawn(
    actors::planner,
    actors::planner_config{x.scheduler, x.monitor, control.policy, with.profile,
                           first_plan, control.offload, s.planner.period});
  x.supervisor = sys.spawn(
    actors::supervisor,
    actors::supervisor_config{x.scheduler, control.processes,
                              control.processes ? process_parts(s)
                                                : std::vector<std::string>{},
                              s.processes});
  control.watch->connect(x.supervisor, x.planner);
  return x;
}

std::vector<caf::actor> spawn_cpu_pools(caf::actor_system& sys,
                                        const part_context& with) {
  using actors::role;
  std::vector<caf::actor> all;
  // Sides are bounded by the pixels alone: a panorama is a picture too.
  image::decode_limits sources;
  sources.side_px = UINT32_MAX;
  sources.picture_px = with.settings.limits.source_px;
  // A worker that decodes gives no sign meanwhile.
  const auto longest =
    std::min(with.settings.limits.decode, with.settings.processes.silence / 2);
  for (uint32_t i = 0; i < with.settings.preprocess.workers; ++i) {
    auto x = with.workers->add_new([&] {
      return sys.spawn(
        actors::preprocess,
        actors::preprocess_config{{with.self, role::preprocess, i},
                                  with.settings.preprocess.seats,
                                  with.settings.preprocess.test_crash_seed,
                                  sources,
                                  longest,
                                  with.slots,
                                  with.hub});
    });
    all.push_back(caf::actor_cast<caf::actor>(x));
  }
  for (uint32_t i = 0; i < with.settings.postprocess.workers; ++i) {
    auto x = with.workers->add_new([&] {
      return sys.spawn(
        actors::postprocess,
        actors::postprocess_config{{with.self, role::postprocess, i},
                                   with.settings.postprocess.seats,
                                   with.settings.postprocess.test_crash_seed,
                                   with.slots,
                                   with.hub});
    });
    all.push_back(caf::actor_cast<caf::actor>(x));
  }
  return all;
}

core::result<device_part> spawn_device(caf::actor_system& sys,
                                       const part_context& with,
                                       const config::device_settings& device,
                                       uint32_t index) {
  const auto kind = config::device_kind(device);
  const auto seen = with.profile->kinds.empty()
                    ? with.profile
                    : std::make_shared<const planning::profile>(
                      planning::seen_on(*with.profile, kind));
  auto made = make_executor(with.settings, device, seen, with.slots);
  if (!made)
    return made.why();
  device_part x;
  x.device = std::move(*made);
  actors::denoise_step_config c;
  c.self = {with.self, actors::role::denoise_step, index};
  c.device = device.name;
  c.kind = kind;
  c.may_host = device.variants;
  c.memory_bytes = device.memory_bytes;
  for (const auto v : x.device->resident())
    c.variants.push_back(with.profile->variants.at(v.value).name);
  if (c.variants.empty())
    c.variants = device.variants;
  c.seats = device.seats;
  c.max_batch = device.max_batch;
  c.publish_every = device.publish_every;
  c.on_executor_thread = true;
  c.device_executor = x.device;
  c.hub = with.hub;
  x.actor = with.workers->add_new(
    [&] { return sys.spawn(actors::denoise_step, std::move(c)); });
  return x;
}

std::vector<std::string> process_parts(const config::settings& x) {
  if (x.processes.mode == config::process_mode::single)
    return {};
  std::vector<std::string> parts{"cpu"};
  for (const auto& device : x.devices)
    parts.push_back(device.name);
  return parts;
}

size_t control_threads(const config::settings& x) {
  if (x.actors.threads != 0)
    return x.actors.threads;
  constexpr size_t hub_and_others = 2;
  if (x.processes.mode == config::process_mode::split)
    return hub_and_others;
  return hub_and_others + cpu_threads(x);
}

size_t cpu_threads(const config::settings& x) {
  if (x.actors.threads != 0)
    return x.actors.threads;
  return size_t{x.preprocess.workers} + x.postprocess.workers;
}

} // namespace atelier::runtime
