// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/watched_slots.hpp"
#include "support/deterministic_system.hpp"
#include "support/stage_orders.hpp"
#include <atelier/actors/wiring.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/planning/grouping.hpp>
#include <atelier/simulation/simulated_host.hpp>
#include <atelier/simulation/virtual_offload.hpp>
#include <atelier/simulation/virtual_timers.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

/// The options of a simulated system.
struct system_options {
  std::array<uint32_t, ipc::slot_kinds> slots = {8, 8, 0};
  /// Whether the bytes of states and images are kept.
  bool payload = false;
  uint32_t devices = 1;
  uint32_t seats = 4;
  uint32_t max_batch = 2;
  uint32_t run_steps = 1;
  uint32_t publish_every = 1;
  config::process_settings processes;
  std::function<runtime::process_script(ipc::process_life)> script;
  runtime::link_script links;
  std::shared_ptr<const planning::profile> profile;
  /// Null: the standard ones.
  std::shared_ptr<const planning::pipeline> stages;
};

/// Every actor of a host with split processes, in virtual time.
class system_rig {
public:
  /// The bytes of an image slot, if `payload` is set.
  static constexpr uint64_t image_bytes = 16384;

  explicit system_rig(system_options o) : options(std::move(o)) {
    std::array<uint64_t, ipc::slot_kinds> bytes{};
    if (options.payload)
      bytes = {4096, image_bytes, 0};
    store = std::make_shared<ipc::heap_store>(1, options.slots, bytes);
    timers = std::make_shared<runtime::virtual_timers>(det.sys);
    offload = std::make_shared<runtime::virtual_offload>(timers);
    make_host();
    watch = std::make_shared<actors::mailbox_supervision>();
    actors::control_config c;
    c.reports = scheduler_port;
    c.watch = watch;
    auto& scheduling = c.scheduler.tables;
    scheduling.slots = options.slots;
    scheduling.processes = options.processes;
    scheduling.policy = policy;
    scheduling.profile = options.profile;
    scheduling.initial_plan = std::make_shared<const planning::plan>(
      policy->replan({}, *options.profile, {}, {}));
    scheduling.stages = stages;
    auto& ports = c.scheduler.ports;
    ports.slots = store;
    ports.workers = std::make_shared<watched_handoff>(*this);
    ports.clients = std::make_shared<clients_port>(*this);
    c.planner.offload = offload;
    c.supervisor.host = host;
    c.supervisor.parts.emplace_back("cpu");
    for (uint32_t i = 0; i < options.devices; ++i)
      c.supervisor.parts.emplace_back("device");
    c.supervisor.settings = options.processes;
    const auto all = actors::spawn_control(det.sys, std::move(c));
    scheduler = all.scheduler;
    monitor = all.monitor;
    planner = all.planner;
    supervisor = all.supervisor;
    det.keep(scheduler);
    det.keep(monitor);
    det.keep(planner);
    det.keep(supervisor);
    det.run();
    host->connect(
      [this](actors::process_started x) { caf::anon_send(supervisor, x); },
      [this](actors::process_exited x) {
        slots.gone(x.process);
        caf::anon_send(supervisor, x);
      });
    det.tell(supervisor, actors::start_atom::value);
  }

  ~system_rig() {
    host->clear();
    watch->clear();
    scheduler_port->clear();
    det.end();
  }

  system_rig(const system_rig&) = delete;
  system_rig& operator=(const system_rig&) = delete;

  const actors::scheduler& tables() {
    return *det.state<actors::scheduler_state>(scheduler).tables;
  }

  /// Returns the first fault, or an empty string.
  std::string check() {
    return wrong.empty() ? tables().check() : wrong;
  }

  template <class T>
  void tell(T x) {
    caf::anon_send(scheduler, std::move(x));
  }

  /// @param keeps_suspicion the client writes suspicions down
  void submit(std::shared_ptr<const core::request> what,
              bool keeps_suspicion = false) {
    tell(actors::submit{std::move(what), {}, keeps_suspicion});
  }

  /// The gateway has copied a request's image.
  void take(core::request_id id) {
    tell(actors::taken_answer{id});
  }

  system_options options;
  deterministic_system det;
  std::shared_ptr<const planning::policy> policy =
    *planning::make_policy("vanilla");
  std::shared_ptr<const planning::pipeline> stages =
    options.stages ? options.stages : *actors::standard_pipeline();
  std::shared_ptr<ipc::heap_store> store;
  std::shared_ptr<runtime::virtual_timers> timers;
  std::shared_ptr<runtime::virtual_offload> offload;
  std::shared_ptr<actors::mailbox_scheduler_port> scheduler_port =
    std::make_shared<actors::mailbox_scheduler_port>();
  std::shared_ptr<runtime::simulated_host> host;
  std::shared_ptr<actors::mailbox_supervision> watch;
  actors::scheduler_actor scheduler;
  actors::monitor_actor monitor;
  actors::planner_actor planner;
  actors::supervisor_actor supervisor;
  watched_slots slots;
  std::string wrong;
  std::map<core::request_id, actors::answer> answers;
  /// Bytes of answered images, if `payload` is set.
  std::map<core::request_id, std::vector<std::byte>> images;
  std::vector<core::request_id> untaken;
  /// Called with each order that is passed to a device.
  std::function<void(const actors::denoise&)> on_denoise;
  /// Called with each order to the pools and each reply from them, which the
  /// call may change.
  std::function<void(const actors::worker_address&, const actors::run_stage&)>
    on_pool;
  std::function<void(actors::stage_done&)> on_reply;

private:
  void make_host() {
    runtime::simulated_host_config c;
    c.timers = timers;
    c.scheduler = scheduler_port;
    c.links = options.links;
    c.script = [this](ipc::process_life who) {
      return options.script ? options.script(who) : runtime::process_script{};
    };
    c.sign = [this](actors::pong x) { caf::anon_send(supervisor, x); };
    c.spawn = [this](ipc::process_life who, const std::string& part,
                     const std::shared_ptr<actors::scheduler_port>& port) {
      return spawn(who, part, std::make_shared<replies_port>(*this, port));
    };
    host = std::make_shared<runtime::simulated_host>(std::move(c));
  }

  runtime::process_body spawn(
    ipc::process_life who, const std::string& part,
    const std::shared_ptr<actors::scheduler_port>& port) {
    runtime::process_body body;
    if (part == "cpu") {
      const actors::stage_path path{stages};
      for (const auto of : {actors::role::preprocess, actors::role::postprocess,
                            actors::role::classifier}) {
        if (!path.has_stage_of(of))
          continue;
        auto some = actors::spawn_pool(det.sys, *body.workers, who, {of, 1, 2},
                                       {{}, 1, stages, store, port});
        body.actors.insert(body.actors.end(), some.begin(), some.end());
      }
      return body;
    }
    gpu::virtual_config v;
    v.known = options.profile;
    v.noise = 0.2;
    v.seed = who.life.value;
    auto device =
      std::make_shared<gpu::virtual_executor>(std::move(v), timers, store);
    actors::denoise_step_config d;
    d.self = {who, actors::role::denoise_step, 0};
    d.device = "cpu";
    for (const auto& x : options.profile->variants)
      d.variants.push_back(x.name);
    d.weights = planning::weights_of(*options.profile);
    d.seats = options.seats;
    d.max_batch = options.max_batch;
    d.run_steps = options.run_steps;
    d.publish_every = options.publish_every;
    d.device_executor = device;
    d.scheduler = port;
    body.devices.push_back(device);
    body.actors.push_back(caf::actor_cast<caf::actor>(
      actors::spawn_device(det.sys, *body.workers, d)));
    if (actors::stage_path{stages}.has_stage_of(actors::role::device_stage)) {
      actors::device_stage_config x;
      x.self = {who, actors::role::device_stage, 0};
      x.device = d.device;
      x.stages = stages;
      x.slots = store;
      x.scheduler = port;
      x.device_executor = device;
      x.now = [this] { return det.now(); };
      body.actors.push_back(caf::actor_cast<caf::actor>(
        actors::spawn_device_stage(det.sys, *body.workers, std::move(x))));
    }
    return body;
  }

  /// Observes every hand-off.
  struct watched_handoff : actors::handoff {
    explicit watched_handoff(system_rig& x) : rig(x) {}

    core::result<void> send(const actors::worker_address& to,
                            actors::work what) override {
      if (rig.wrong.empty())
        rig.wrong = rig.slots.handed_off(to, what);
      if (const auto* d = std::get_if<actors::denoise>(&what);
          d != nullptr && rig.on_denoise)
        rig.on_denoise(*d);
      if (const auto* order = std::get_if<actors::run_stage>(&what);
          order != nullptr && rig.on_pool)
        rig.on_pool(to, *order);
      return rig.host->send(to, std::move(what));
    }

    system_rig& rig;
  };

  /// Observes the moment at which a worker releases its slots.
  struct replies_port : actors::scheduler_port {
    replies_port(system_rig& x, std::shared_ptr<actors::scheduler_port> n)
      : rig(x), next(std::move(n)) {}

    void send(actors::report what) override {
      if (auto* a = std::get_if<actors::stage_done>(&what)) {
        rig.slots.replied(a->ticket);
        if (rig.on_reply)
          rig.on_reply(*a);
      } else if (const auto* b = std::get_if<actors::denoised>(&what))
        rig.slots.replied(b->ticket);
      else if (const auto* d = std::get_if<actors::stepped>(&what))
        for (const auto& row : d->rows)
          if (row.published)
            rig.slots.published(row.ticket);
      next->send(std::move(what));
    }

    system_rig& rig;
    std::shared_ptr<actors::scheduler_port> next;
  };

  struct clients_port : actors::gateway {
    explicit clients_port(system_rig& x) : rig(x) {}

    void answered(actors::answer what) override {
      const auto id = what.request->id;
      if (what.image) {
        rig.untaken.push_back(id);
        if (auto image = rig.store->view(what.image))
          rig.images[id].assign(image->begin(), image->end());
        else
          rig.wrong = "an answer without an image";
      }
      if (!rig.answers.emplace(id, std::move(what)).second)
        rig.wrong = fmt::format("request {} answered twice", id.value);
    }

    void progressed(core::request_id id, uint32_t, uint32_t,
                    ipc::slot_ref) override {
      if (rig.answers.count(id) != 0)
        rig.wrong = "progress after the answer";
    }

    void suspected(core::request_id id, core::suspicion, bool waits) override {
      if (waits)
        rig.timers->after(std::chrono::milliseconds{3},
                          [this, id] { rig.tell(actors::trial_noted{id}); });
    }

    system_rig& rig;
  };
};

} // namespace atelier::test
