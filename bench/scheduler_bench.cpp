// SPDX-License-Identifier: Apache-2.0

// How many requests a second pass through the scheduler? The real scheduler
// actor runs on CAF's real threads, with workers that answer at once and slots
// without payload. A floor is measured too: the same messages to an actor that
// only answers.
//
//   scheduler_bench [REQUESTS]

#include <atelier/actors/scheduler_actor.hpp>
#include <atelier/actors/stages/finish.hpp>
#include <atelier/actors/stages/prepare.hpp>
#include <atelier/actors/worker_directory.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/runtime/pipeline.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>

namespace {

using namespace atelier;
using clock_type = std::chrono::steady_clock;

constexpr int window = 256;

/// Plays every kind of worker: it answers each order with its report at once.
class instant_workers : public actors::handoff {
public:
  instant_workers(std::shared_ptr<ipc::slot_store> slots,
                  std::shared_ptr<actors::mailbox_scheduler_port> scheduler)
    : slots_(std::move(slots)), scheduler_(std::move(scheduler)) {}

  core::result<void> send(const actors::worker_address& to,
                          actors::work what) override {
    using planning::held;
    if (const auto* order = std::get_if<actors::run_stage>(&what)) {
      const bool prepares = static_cast<bool>(order->writes[held::state]);
      good(slots_->publish(
        order->writes[prepares ? held::state : held::encoded], 1, 0));
      actors::stage_done reply;
      reply.ticket = order->ticket;
      reply.stage = order->stage;
      if (prepares)
        reply.outcome = core::typed_body::of(actors::prepare_stage::done{});
      else
        reply.outcome = core::typed_body::of(actors::finish_stage::done{});
      scheduler_->send(std::move(reply));
    } else if (auto* d = std::get_if<actors::denoise>(&what)) {
      good(slots_->publish(d->state, 2, 0));
      good(slots_->publish(d->image, 1, 0));
      scheduler_->send(actors::stepping{to, {d->ticket}});
      scheduler_->send(actors::stepped{to, {{d->ticket, 1, true}}});
      actors::denoised reply;
      reply.ticket = d->ticket;
      reply.steps_done = reply.steps_run = 1;
      scheduler_->send(std::move(reply));
    }
    return {};
  }

private:
  static void good(const core::result<void>& x) {
    if (!x) {
      std::fprintf(stderr, "%s\n", x.why().text.c_str());
      std::abort();
    }
  }

  std::shared_ptr<ipc::slot_store> slots_;
  std::shared_ptr<actors::mailbox_scheduler_port> scheduler_;
};

class counting_gateway : public actors::gateway {
public:
  std::counting_semaphore<window> room{window};
  std::atomic<int> answered_count{0};
  std::atomic<int> failed_count{0};
  actors::scheduler_actor scheduler;

  void answered(actors::answer what) override {
    if (what.failure.code != core::ec::none)
      ++failed_count;
    else
      caf::anon_send(scheduler, actors::taken_answer{what.request->id});
    ++answered_count;
    room.release();
  }

  void progressed(core::request_id, uint32_t, uint32_t,
                  ipc::slot_ref) override {}
};

class nobody : public actors::supervision {
public:
  void suspect(ipc::process_life, std::string) override {}

  void request_caused(ipc::process_life) override {}

  void cluster_changed(planning::cluster_view) override {}
};

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

double hub_rate(int requests) {
  runtime::system_config settings{2};
  caf::actor_system sys{settings};
  auto profile = std::make_shared<planning::profile>();
  planning::variant_profile v;
  v.name = "test_card@1";
  v.model = "test_card";
  v.steps = 1;
  v.step = {{1, 64 * 64, std::chrono::milliseconds{1}}};
  profile->variants.push_back(v);
  actors::scheduler_actor_config config;
  auto policy = planning::make_policy("vanilla");
  config.tables.policy = *policy;
  config.tables.profile = profile;
  config.tables.initial_plan = std::make_shared<const planning::plan>(
    (*policy)->replan({}, *profile, {}, {}));
  config.tables.slots = {2 * window, 2 * window, 0};
  auto slots = std::make_shared<ipc::heap_store>(
    config.tables.arena, config.tables.slots,
    std::array<size_t, ipc::slot_kinds>{0, 0, 0});
  auto port = std::make_shared<actors::mailbox_scheduler_port>();
  auto clients = std::make_shared<counting_gateway>();
  config.ports = {slots, std::make_shared<instant_workers>(slots, port),
                  clients, std::make_shared<nobody>()};
  auto scheduler = sys.spawn(actors::scheduler_behavior, std::move(config));
  port->connect(scheduler);
  clients->scheduler = scheduler;
  for (uint32_t i = 0; i < 2; ++i) {
    actors::worker_ready ready;
    ready.seats = 16;
    ready.max_batch = 8;
    ready.variants = {v.name};
    for (auto what : {actors::role::preprocess, actors::role::denoise_step,
                      actors::role::postprocess}) {
      ready.worker = {{}, what, i};
      port->send(ready);
    }
  }
  const auto begin = clock_type::now();
  for (int i = 0; i < requests; ++i) {
    clients->room.acquire();
    auto r = std::make_shared<core::request>();
    r->id = core::request_id{static_cast<uint64_t>(i) + 1};
    r->text.positive = "a red circle above a blue square";
    r->px = {64, 64};
    r->arrived = clock_type::now();
    caf::anon_send(scheduler, actors::submit{std::move(r)});
  }
  for (int i = 0; i < window; ++i)
    clients->room.acquire();
  const auto took = seconds_since(begin);
  if (clients->failed_count != 0 || clients->answered_count != requests) {
    std::fprintf(stderr, "%d of %d requests failed\n",
                 clients->failed_count.load(), requests);
    std::exit(1);
  }
  port->clear();
  clients->scheduler = nullptr;
  caf::anon_send_exit(scheduler, caf::exit_reason::kill);
  return requests / took;
}

/// Measures the floor: as many messages to an actor that does nothing with
/// them.
double message_rate(int requests) {
  constexpr int messages_each = 7;
  runtime::system_config settings{2};
  caf::actor_system sys{settings};
  std::atomic<int> left{requests * messages_each};
  // The actor has an argument, because CAF 0.17.6 reads an empty argument list
  // through a null pointer, which the standard library's assertions report.
  auto sink = sys.spawn(
    [](caf::event_based_actor*, std::atomic<int>* of) -> caf::behavior {
      return {[of](const actors::stage_done&) { --*of; }};
    },
    &left);
  const auto begin = clock_type::now();
  for (int i = 0; i < requests * messages_each; ++i)
    caf::anon_send(sink, actors::stage_done{});
  while (left > 0)
    std::this_thread::yield();
  const auto took = seconds_since(begin);
  caf::anon_send_exit(sink, caf::exit_reason::kill);
  return requests / took;
}

} // namespace

int main(int count, char** arguments) {
  const int requests = count > 1 ? std::atoi(arguments[1]) : 200'000;
  const auto rate = hub_rate(requests);
  const auto floor = message_rate(requests);
  std::printf("scheduler: %.0f requests/s (%.1f us each); bare messages: %.0f "
              "requests/s; share of the floor %.2f\n",
              rate, 1e6 / rate, floor, rate / floor);
  return 0;
}
