// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/recorders.hpp"
#include <atelier/actors/denoise_step.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace atelier::test {

/// A worker whose device the test plays.
struct denoise_step_rig : deterministic_system {
  denoise_step_rig() {
    start(2);
  }

  void start(uint32_t max_batch) {
    if (sut)
      kill(sut);
    device = std::make_shared<scripted_executor>();
    scheduler = std::make_shared<recording_scheduler_port>();
    actors::denoise_step_config c;
    c.self = me;
    c.variants = {"card@4"};
    c.seats = 8;
    c.max_batch = max_batch;
    c.device_executor = device;
    c.scheduler = scheduler;
    sut = spawn(actors::denoise_step, c);
  }

  static actors::denoise work(uint64_t id, uint32_t steps = 4,
                              uint32_t side = 32) {
    actors::denoise d;
    d.ticket = {core::request_id{id}, 1};
    d.recipe.steps = steps;
    d.recipe.px = {side, side};
    d.recipe.guidance = 7.5f;
    d.deadline_ns = core::never.time_since_epoch().count();
    const auto n = static_cast<uint32_t>(id);
    d.from = {1, n, 1, ipc::slot_kind::state};
    d.state = {1, 100 + n, 1, ipc::slot_kind::state};
    d.image = {1, n, 1, ipc::slot_kind::image};
    return d;
  }

  static core::ticket row(uint64_t id) {
    return {core::request_id{id}, 1};
  }

  void give(const actors::denoise& x) {
    tell(sut, x);
  }

  void cancel(uint64_t id) {
    tell(sut, actors::cancel_work{row(id)});
  }

  void ran(uint32_t steps, std::vector<uint32_t> done, core::error why = {}) {
    device->ran(steps, std::move(done), why);
    run();
  }

  void decoded(uint64_t id, core::error why = {}) {
    device->decoded(row(id), std::move(why));
    run();
  }

  std::vector<actors::denoised> replies() const {
    return scheduler->of<actors::denoised>();
  }

  std::vector<core::ticket> last_batch() const {
    return scheduler->of<actors::stepping>().back().rows;
  }

  std::vector<core::ticket> last_run() const {
    return device->runs.back().rows;
  }

  const actors::worker_address me{scheduler_rig::life(2),
                                  actors::role::denoise_step, 0};
  std::shared_ptr<scripted_executor> device;
  std::shared_ptr<recording_scheduler_port> scheduler;
  actors::denoise_step_actor sut;
};

} // namespace atelier::test
