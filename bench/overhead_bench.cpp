// SPDX-License-Identifier: Apache-2.0

// How much time does serving add to a request's model time, with 64 requests in
// flight? Each part is measured with the real code:
//
//   choice     the scheduler's tables: admission, route and first dispatch of a
//              request, and the choice of its device when it is prepared; with
//              two variants of a ladder, of which `atelier` plans a mix
//   batch      the denoise-step actor: from the end of a run until the device
//              has the next run, in which one row left and another joined
//   hand-off   a descriptor from the control process to a device's process and
//              back: written, sent through the ring, read; no payload is copied
//
// Published times of the same parts: 600, 1,200 and 2,400 us (InstGenIE, 6.6).
// The file is long because each part has its own stand-ins and checks.
//
//   overhead_bench [REQUESTS]

#include <atelier/actors/denoise_step.hpp>
#include <atelier/actors/inline_unit.hpp>
#include <atelier/actors/scheduler/scheduler.hpp>
#include <atelier/actors/stages/finish.hpp>
#include <atelier/actors/stages/prepare.hpp>
#include <atelier/actors/wire.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/runtime/pipeline.hpp>
#include <atelier/runtime/split/ring_link.hpp>

#include <caf/send.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr uint32_t in_flight = 64;

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "overhead_bench: %s\n", why);
  std::exit(1);
}

template <class T>
void good(const core::result<T>& x) {
  if (!x)
    stop(x.why().text.c_str());
}

double micros(clock_type::duration x) {
  return std::chrono::duration<double, std::micro>(x).count();
}

void print(const std::string& name, std::vector<double> xs) {
  if (xs.empty())
    stop("nothing was measured");
  std::sort(xs.begin(), xs.end());
  const auto at = [&](double p) {
    return xs[static_cast<size_t>(p * static_cast<double>(xs.size() - 1))];
  };
  std::printf("%-44s p50 %8.2f  p95 %8.2f  p99 %8.2f us\n", name.c_str(),
              at(.5), at(.95), at(.99));
}

// -- choice -------------------------------------------------------------------

constexpr ipc::process_life cpu{core::process_id{1}, core::incarnation{1}};

struct orders : actors::handoff {
  core::result<void> send(const actors::worker_address& to,
                          actors::work what) override {
    waiting.emplace_back(to, std::move(what));
    return {};
  }

  std::deque<std::pair<actors::worker_address, actors::work>> waiting;
};

struct answers : actors::gateway {
  void answered(actors::answer what) override {
    if (what.failure.code != core::ec::none)
      stop("a request failed");
    done.push_back(what.request->id);
  }

  void progressed(core::request_id, uint32_t, uint32_t,
                  ipc::slot_ref) override {}

  std::vector<core::request_id> done;
};

struct nobody : actors::supervision {
  void suspect(ipc::process_life, std::string) override {}

  void request_caused(ipc::process_life) override {}

  void cluster_changed(planning::cluster_view x) override {
    there = std::move(x);
  }

  planning::cluster_view there;
};

/// Returns a profile of two variants of one ladder. Eight images take a device
/// 8 ms with the large variant and 4 ms with the small one.
std::shared_ptr<const planning::profile> measured() {
  auto known = std::make_shared<planning::profile>();
  planning::ladder_profile models;
  models.kind = planning::ladder_kind::smaller_models;
  for (const auto& [name, quality] :
       {std::pair{"large@2", 1.0}, std::pair{"small@1", 0.8}}) {
    auto v = *planning::parse_variant(name);
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, 1ms, 9}, {8, 64 * 64, 4ms, 9}};
    v.quality = quality;
    models.levels.push_back(
      {core::variant_id{static_cast<uint32_t>(known->variants.size())},
       0,
       quality,
       {}});
    known->variants.push_back(v);
  }
  known->ladders.push_back(models);
  return known;
}

/// Returns a demand that exceeds what the large variant can draw within three
/// times an image's time, and that the small variant can meet.
planning::demand asked_of(uint32_t devices) {
  planning::demand x;
  planning::demand_window window;
  window.length = 1s;
  window.begin = core::time_point{1s};
  window.arrived = 700ull * devices;
  x.windows = {window};
  x.now = window.begin + window.length;
  x.period = 1s;
  return x;
}

size_t routes_taken(const planning::plan& x) {
  size_t most = 0;
  for (const auto& row : x.share)
    most = std::max(most, static_cast<size_t>(std::ranges::count_if(
                            row, [](double share) { return share > 0; })));
  return most;
}

void choice(const std::string& policy_name, uint32_t devices, int requests) {
  const auto known = measured();
  const auto policy = planning::make_policy(policy_name);
  good(policy);
  actors::scheduler_config config;
  config.policy = *policy;
  config.profile = known;
  config.initial_plan = std::make_shared<const planning::plan>(
    (*policy)->replan({}, *known, {}, {}));
  config.slots = {4 * in_flight, 4 * in_flight, 0};
  const auto slots = std::make_shared<ipc::heap_store>(
    config.arena, config.slots, std::array<size_t, ipc::slot_kinds>{0, 0, 0});
  const auto to = std::make_shared<orders>();
  const auto clients = std::make_shared<answers>();
  const auto supervisor = std::make_shared<nobody>();
  actors::scheduler scheduler{config, {slots, to, clients, supervisor}};
  actors::worker_ready ready;
  ready.seats = in_flight;
  ready.max_batch = 8;
  for (const auto what :
       {actors::role::preprocess, actors::role::postprocess}) {
    ready.worker = {cpu, what, 0};
    scheduler.on(ready, clock_type::now());
  }
  ready.seats = 2 * in_flight / devices;
  for (const auto& v : known->variants)
    ready.variants.push_back(v.name);
  for (uint32_t i = 0; i < devices; ++i) {
    ready.worker = {{core::process_id{i + 2}, core::incarnation{1}},
                    actors::role::denoise_step,
                    0};
    scheduler.on(ready, clock_type::now());
  }
  // The second plan knows which variants the devices host by then.
  auto plan = config.initial_plan;
  for (int i = 0; i < 2; ++i) {
    plan = std::make_shared<const planning::plan>(
      (*policy)->replan(asked_of(devices), *known, supervisor->there, *plan));
    scheduler.publish(plan, clock_type::now());
    for (const auto& [where, what] : std::exchange(to->waiting, {}))
      if (const auto* a = std::get_if<actors::adopt>(&what))
        scheduler.on(actors::adopted{where, a->number, {}}, clock_type::now());
  }
  if (policy_name == "atelier" && routes_taken(*plan) < 2)
    stop("the plan leaves nothing to decide");
  std::unordered_map<core::request_id, double> choosing;
  std::vector<double> entering;
  std::vector<double> placing;
  std::vector<double> both;
  uint64_t last = 0;
  const auto timed = [](auto event) {
    const auto begin = clock_type::now();
    event(begin);
    return micros(clock_type::now() - begin);
  };
  const auto enter = [&] {
    auto r = std::make_shared<core::request>();
    r->id = core::request_id{++last};
    r->text.positive = "a red circle above a blue square";
    r->px = {64, 64};
    r->arrived = clock_type::now();
    const auto id = r->id;
    const auto took =
      timed([&](auto now) { scheduler.submit(std::move(r), now); });
    entering.push_back(took);
    choosing[id] = took;
  };
  for (uint32_t i = 0; i < in_flight; ++i)
    enter();
  int answered = 0;
  while (answered < requests) {
    if (to->waiting.empty())
      stop("requests stand still");
    const auto [where, what] = std::move(to->waiting.front());
    to->waiting.pop_front();
    using planning::held;
    const auto* order = std::get_if<actors::run_stage>(&what);
    actors::stage_done ended;
    if (order != nullptr) {
      ended.ticket = order->ticket;
      ended.stage = order->stage;
    }
    if (order != nullptr && order->writes[held::state]) {
      good(slots->publish(order->writes[held::state], 1, 0));
      ended.outcome = core::typed_body::of(actors::prepare_stage::done{});
      const auto took = timed([&](auto now) { scheduler.on(ended, now); });
      placing.push_back(took);
      both.push_back(choosing.at(ended.ticket.id) + took);
      choosing.erase(ended.ticket.id);
    } else if (const auto* d = std::get_if<actors::denoise>(&what)) {
      const auto steps = d->recipe.steps;
      good(slots->publish(d->state, steps + 1, 0));
      good(slots->publish(d->image, 1, 0));
      const auto now = clock_type::now();
      scheduler.on(actors::stepping{where, {d->ticket}}, now);
      scheduler.on(actors::stepped{where, {{d->ticket, steps, true}}}, now);
      actors::denoised reply;
      reply.ticket = d->ticket;
      reply.steps_done = reply.steps_run = steps;
      scheduler.on(reply, now);
    } else if (const auto* a = std::get_if<actors::adopt>(&what)) {
      scheduler.on(actors::adopted{where, a->number, {}}, clock_type::now());
    } else if (order != nullptr) {
      good(slots->publish(order->writes[held::encoded], 1, 0));
      ended.outcome = core::typed_body::of(actors::finish_stage::done{});
      scheduler.on(ended, clock_type::now());
    }
    for (const auto id : std::exchange(clients->done, {})) {
      scheduler.taken(id, clock_type::now());
      ++answered;
      enter();
    }
  }
  if (const auto broken = scheduler.check(); !broken.empty())
    stop(broken.c_str());
  if (scheduler.counts().answered != static_cast<uint64_t>(answered))
    stop("answers were lost");
  const auto name = policy_name + ", " + std::to_string(devices) + " devices: ";
  print(name + "route", entering);
  print(name + "worker", placing);
  print(name + "both", both);
}

// -- batch --------------------------------------------------------------------

struct instant_device : gpu::executor {
  void connect(gpu::executor_events x) override {
    events = std::move(x);
  }

  void open(const gpu::open_job&) override {
    ++opened;
  }

  void run(const gpu::run_job& job) override {
    began = clock_type::now();
    rows = job.rows;
  }

  void interrupt() override {}

  void decode(core::ticket who) override {
    decoding.push_back(who);
  }

  void close(core::ticket) override {}

  gpu::executor_events events;
  clock_type::time_point began;
  std::vector<core::ticket> rows;
  std::vector<core::ticket> decoding;
  uint64_t opened = 0;
};

/// Serializes reports as a process's port does, and records which requests
/// ended.
struct written_reports : actors::scheduler_port {
  void send(actors::report what) override {
    std::visit(
      [&](auto& x) {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>,
                                     actors::denoised>)
          ended.push_back(x.ticket);
        actors::write(actors::from_process{std::move(x)}, bytes);
      },
      what);
  }

  std::vector<std::byte> bytes;
  std::vector<core::ticket> ended;
};

void batch(uint32_t most_rows, int changes) {
  runtime::system_config settings{2};
  caf::actor_system sys{settings};
  const auto device = std::make_shared<instant_device>();
  const auto scheduler = std::make_shared<written_reports>();
  actors::denoise_step_config c;
  c.self = {cpu, actors::role::denoise_step, 0};
  c.seats = in_flight;
  c.max_batch = most_rows;
  c.on_executor_thread = true;
  c.device_executor = device;
  c.scheduler = scheduler;
  auto sut = sys.spawn(actors::denoise_step, c);
  // A thread of CAF first runs the actor, which connects to its device. From
  // then on only this thread runs it.
  std::this_thread::sleep_for(200ms);
  if (!device->events.ran)
    stop("the worker did not begin");
  actors::inline_unit here{sys};
  uint64_t last = 0;
  std::unordered_map<core::ticket, uint32_t> done;
  const auto give = [&] {
    actors::denoise d;
    d.ticket = {core::request_id{++last}, 1};
    // The rows end at different steps, so that at most one row ends with a
    // step.
    d.recipe.steps = 2 * most_rows + static_cast<uint32_t>(last % 7);
    d.recipe.px = {64, 64};
    d.text.positive = "a red circle above a blue square";
    d.deadline_ns = core::never.time_since_epoch().count();
    here.deliver(sut, d);
  };
  // Until the batch is full, rows join it one step after another.
  for (uint32_t i = 0; i < in_flight; ++i)
    give();
  std::vector<double> changing;
  std::vector<double> same;
  uint64_t ends = 0;
  while (changing.size() < static_cast<size_t>(changes)) {
    if (device->rows.empty() || device->rows.size() > most_rows)
      stop("a batch is empty or too large");
    const auto before = device->rows;
    const auto opened = device->opened;
    gpu::run_report report;
    report.steps = 1;
    report.took = 1ms;
    report.first_step = clock_type::now();
    for (const auto& who : before)
      report.rows.push_back({who, ++done[who], true, {}});
    const auto began = clock_type::now();
    device->events.ran(std::move(report));
    const auto took = micros(device->began - began);
    if (took < 0)
      stop("the device got no run");
    const bool joined = device->opened > opened;
    (joined && !device->decoding.empty() ? changing : same).push_back(took);
    for (const auto who : std::exchange(device->decoding, {})) {
      done.erase(who);
      device->events.decoded({who, 0, 1ms, {}, 0});
    }
    for (const auto who : std::exchange(scheduler->ended, {})) {
      if (std::find(device->rows.begin(), device->rows.end(), who)
          != device->rows.end())
        stop("a row that ended is in the batch");
      ++ends;
      give();
    }
  }
  if (last != ends + in_flight)
    stop("rows were lost");
  const auto name = "batch of " + std::to_string(most_rows) + ": ";
  print(name + "rows leave and join", changing);
  if (!same.empty())
    print(name + "same rows", same);
  device->events = {};
  caf::anon_send_exit(sut, caf::exit_reason::kill);
}

// -- hand-off -----------------------------------------------------------------

constexpr core::timespan pace = 500us;

int64_t now_ns() {
  return clock_type::now().time_since_epoch().count();
}

/// Plays the device's process. It answers each row with a report that contains
/// the row's transit time and the time at which the report was sent.
[[noreturn]] void play_process(int descriptor) {
  auto arena = ipc::arena_view::adopt(descriptor);
  if (!arena)
    _exit(1);
  const ipc::ring_life ring{(*arena)->host_epoch(), cpu.life};
  const auto rings = *(*arena)->rings(cpu.process);
  ipc::ring_reader in{rings.inbound, ring};
  ipc::ring_writer out{rings.outbound, ring};
  std::vector<std::byte> bytes;
  uint64_t expected = 0;
  for (;;) {
    const auto got = in.pop(bytes, 30s);
    if (!got || !*got)
      _exit(1);
    const auto x = actors::read_to_process(bytes);
    const auto* work = x ? std::get_if<actors::denoise>(&x->body) : nullptr;
    const auto arrived = now_ns();
    if (work == nullptr || work->ticket.id.value != ++expected
        || work->text.positive != "a red circle above a blue square")
      _exit(1);
    actors::denoised reply;
    reply.ticket = work->ticket;
    reply.denoise = core::timespan{arrived - work->deadline_ns};
    reply.decoded_ns = now_ns();
    actors::write(actors::from_process{reply}, bytes);
    if (const auto pushed = out.push(bytes); !pushed || !*pushed)
      _exit(1);
  }
}

void hand_off(int count) {
  auto arena =
    ipc::arena_owner::make_shared_memory({{1, 1, 0}, {64, 64, 64}, 2, 1 << 16});
  good(arena);
  const auto rings = *(*arena)->begin_life(cpu.process);
  const auto parent = getpid();
  const auto child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
      play_process((*arena)->descriptor());
    _exit(1);
  }
  std::vector<double> there;
  std::vector<double> back;
  std::counting_semaphore<in_flight> room{in_flight};
  std::atomic<uint64_t> answered = 0;
  {
    runtime::ring_link link{
      rings,
      {(*arena)->host_epoch(), cpu.life},
      {[&](actors::from_process x) {
         const auto* r = std::get_if<actors::denoised>(&x.body);
         if (r == nullptr || r->ticket.id.value != answered + 1)
           stop("a report is not the next one");
         there.push_back(micros(r->denoise));
         back.push_back(micros(core::timespan{now_ns() - r->decoded_ns}));
         ++answered;
         room.release();
       },
       [] {}, [](const core::error& why) { stop(why.text.c_str()); }}};
    auto due = clock_type::now();
    for (int i = 1; i <= count; ++i) {
      if (!room.try_acquire_for(30s))
        stop("no report comes back");
      due += pace;
      std::this_thread::sleep_until(due);
      actors::to_process x;
      x.role = actors::role::denoise_step;
      actors::denoise d;
      d.ticket = {core::request_id{static_cast<uint64_t>(i)}, 1};
      d.recipe.steps = 20;
      d.text.positive = "a red circle above a blue square";
      d.deadline_ns = now_ns();
      x.body = std::move(d);
      if (!link.send(x))
        stop("an order was not sent");
    }
    for (uint32_t i = 0; i < in_flight; ++i)
      if (!room.try_acquire_for(30s))
        stop("reports were lost");
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (answered != static_cast<uint64_t>(count))
    stop("reports were lost");
  print("hand-off: to the device's process", there);
  print("hand-off: its report back", back);
}

} // namespace

int main(int argc, char** arguments) {
  const int requests = argc > 1 ? std::atoi(arguments[1]) : 20'000;
  if (requests < 1)
    stop("REQUESTS is a whole number above 0");
  // This part forks, and a fork copies no thread of CAF, so it runs first.
  hand_off(std::min(requests, 5'000));
  for (const char* policy : {"vanilla", "atelier", "instgenie"})
    for (const uint32_t devices : {2u, 8u})
      choice(policy, devices, requests);
  for (const uint32_t rows : {4u, 8u, 32u})
    batch(rows, requests / 10);
  return 0;
}
