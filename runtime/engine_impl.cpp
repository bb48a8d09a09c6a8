// SPDX-License-Identifier: Apache-2.0

// Starts and stops an engine.

#include <atelier/config/load.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/note.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/detail/engine_impl.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/instruction_set.hpp>
#include <atelier/runtime/kept_scope.hpp>
#include <atelier/runtime/make_classifier.hpp>
#include <atelier/runtime/own_thread.hpp>
#include <atelier/runtime/parts_read.hpp>
#include <atelier/runtime/profile_of.hpp>
#include <atelier/runtime/split/core_affinity.hpp>

#include <caf/send.hpp>

#include <algorithm>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace atelier {

namespace {

using core::ec;
using runtime::detail::status_patience;

/// Maximum time for all workers to become ready, in addition to their set-up.
constexpr core::timespan start_patience = std::chrono::seconds{60};
/// Maximum time for the policy's first plan, and for its plan for the workers,
/// once they are ready.
constexpr core::timespan plan_patience = std::chrono::seconds{5};
/// Maximum number of starts of one process before the engine's start fails.
constexpr uint32_t most_start_attempts = 3;

ipc::arena_sizes sizes_of(const config::settings& x) {
  ipc::arena_sizes sizes;
  sizes.slots = {x.arena.state_slots, x.arena.image_slots,
                 x.arena.capture_slots};
  sizes.slot_bytes = {x.arena.state_slot_bytes, x.arena.image_slot_bytes,
                      x.arena.capture_slot_bytes};
  sizes.processes = 1 + static_cast<uint32_t>(runtime::process_parts(x).size());
  sizes.ring_bytes = x.arena.ring_bytes;
  return sizes;
}

/// Checks that every message to a process fits its ring.
core::result<void> check_rings(const config::settings& x,
                               const std::string& as_toml) {
  // A request's numbers and names, and a record's own head; and, on the way to
  // the encoding, the notes with their heads.
  constexpr uint64_t besides =
    4096 + core::most_notes * (core::most_note_bytes + 16);
  const uint64_t texts = 2 * uint64_t{x.limits.prompt_bytes};
  const uint64_t digests = x.models.size() * 64;
  const auto most =
    std::max<uint64_t>(texts, as_toml.size() + digests) + besides;
  if (most <= x.arena.ring_bytes)
    return {};
  return core::fail(ec::bad_config,
                    "arena.ring_kib: {} KiB are too few for two texts of {} "
                    "bytes (limits.prompt_bytes) with notes, or for {} bytes "
                    "of settings; "
                    "at least {} are needed",
                    x.arena.ring_bytes >> 10, x.limits.prompt_bytes,
                    as_toml.size(), (most + 1023) >> 10);
}

/// Returns how many threads the actors and the processes need. They are checked
/// ahead because CAF cannot undo a start that fails halfway, and a process
/// whose thread fails is started again.
/// @param actors those that run actors
size_t later_threads(const config::settings& x, size_t actors) {
  // CAF's clock and its printer, and the thread of callbacks.
  const size_t others = 3;
  // The spawner, and a reader of each process's ring.
  const bool split = x.processes.mode == config::process_mode::split;
  return actors + others + (split ? 1 + runtime::process_parts(x).size() : 0);
}

} // namespace

std::optional<core::error> engine::impl::belongs_elsewhere() const {
  if (getpid() == process)
    return std::nullopt;
  return core::fail(ec::unavailable, "the engine belongs to process {}",
                    process);
}

core::result<void> engine::impl::begin() {
  auto started = log_to ? core::start_log(settings.log.level, log_to)
                        : core::start_log(settings.log.level, "atelier");
  if (!started)
    return started.why();
  log = std::move(*started);
  if (auto there = runtime::check_cores(settings); !there)
    return there;
  auto limited = runtime::use_instruction_set(settings);
  if (!limited)
    return limited.why();
  instructions = std::move(*limited);
  if (auto known_now = know_models(); !known_now)
    return known_now;
  if (auto opened = open_cache(); !opened)
    return opened;
  if (auto made = make_rules(); !made)
    return made;
  const bool split = settings.processes.mode == config::process_mode::split;
  const auto as_toml = config::to_toml(settings);
  if (split)
    if (auto fit = check_rings(settings, as_toml); !fit)
      return fit;
  if (!timeline.empty()) {
    auto opened = runtime::timeline_file::open(timeline, settings.timeline);
    if (!opened)
      return opened.why();
    drawing = std::move(*opened);
  }
  const auto sizes = sizes_of(settings);
  auto made = split ? ipc::arena_owner::make_shared_memory(sizes)
                    : ipc::arena_owner::make_private(sizes);
  if (!made)
    return made.why();
  arena = std::move(*made);
  const auto threads = runtime::control_threads(settings, stages);
  if (auto enough = runtime::check_threads(later_threads(settings, threads));
      !enough)
    return enough;
  actor_settings = std::make_unique<runtime::system_config>(threads);
  sys = std::make_unique<caf::actor_system>(*actor_settings);
  clients = std::make_shared<runtime::completions>(
    arena,
    [this](core::request_id id) {
      caf::anon_send(control.scheduler, actors::taken_answer{id});
    },
    [this](core::request_id id) {
      caf::anon_send(control.scheduler, actors::trial_noted{id});
    },
    profile);
  if (split)
    if (auto made_processes = make_spawner(as_toml); !made_processes)
      return made_processes;
  if (auto spawned = spawn(); !spawned)
    return spawned;
  return wait_until_ready();
}

core::result<void> engine::impl::know_models() {
  auto read =
    runtime::know_variants(settings, runtime::unreadable::refused, own.stages);
  if (!read)
    return read.why();
  known = std::make_shared<const runtime::known_variants>(std::move(*read));
  for (const auto& text : runtime::other_measurements(
         settings, known->costs, core::instruction_set_in_use()))
    core::log_warn("{}", text);
  if (auto any = runtime::can_draw(settings, *known); !any)
    return any;
  if (auto there = runtime::check_deadline(settings, known->costs); !there)
    return there;
  profile = {known, &known->costs};
  auto read_digests = runtime::digests_of_models(settings);
  if (!read_digests)
    return read_digests.why();
  digests = std::move(*read_digests);
  return {};
}

core::result<void> engine::impl::open_cache() {
  auto made_kept = runtime::kept_work_of(settings, digests);
  if (!made_kept)
    return made_kept.why();
  auto used_kept = runtime::host_cache(own.cache, std::move(*made_kept));
  if (!used_kept)
    return used_kept.why();
  kept = std::move(*used_kept);
  if (kept) {
    auto reads = runtime::part_reader_of(settings, *profile);
    if (!reads)
      return reads.why();
    kept = runtime::compare_parts_read(std::move(kept), std::move(*reads));
    predicts = runtime::match_prediction_of(settings, kept);
  }
  return {};
}

core::result<void> engine::impl::make_rules() {
  auto made_policy =
    runtime::policy_of(settings, *profile, own.policies,
                       kept ? std::optional{kept->compares()} : std::nullopt,
                       static_cast<bool>(own.cache));
  if (!made_policy)
    return made_policy.why();
  policy = std::move(*made_policy);
  auto made_plan = make_first_plan();
  if (!made_plan)
    return made_plan.why();
  first_plan = std::move(*made_plan);
  if (auto there = runtime::check_classifier(settings); !there)
    return there;
  auto made_stages = runtime::stages_of(settings, own.stages, kept, predicts);
  if (!made_stages)
    return made_stages.why();
  stages = std::move(*made_stages);
  return {};
}

core::result<void> engine::impl::make_spawner(std::string as_toml) {
  auto program = runtime::find_process_program(settings.processes.program);
  if (!program)
    return program.why();
  runtime::process_spawner::options how;
  how.host = arena;
  how.program = std::move(*program);
  how.settings = std::move(as_toml);
  how.stages = stages->signature();
  how.digests = digests;
  how.confirm = settings.processes.confirm;
  how.arrived = [this](ipc::process_life, actors::from_process x) {
    // One for each thread that reads a ring, for as long as it lives.
    thread_local std::optional<actors::inline_unit> here;
    if (!here)
      here.emplace(*sys);
    std::visit(
      [&]<class T>(T& body) {
        if constexpr (std::is_same_v<
                        T, actors::
                             pong> || std::is_same_v<T, actors::setup_refused>)
          caf::anon_send(control.supervisor, body);
        else
          scheduler->send(actors::report{std::move(body)}, &*here);
        here->run();
      },
      x.body);
  };
  auto spawner = runtime::process_spawner::make(std::move(how));
  if (!spawner)
    return spawner.why();
  processes = std::move(*spawner);
  processes->connect(
    [this](actors::process_started x) {
      caf::anon_send(control.supervisor, std::move(x));
    },
    [this](actors::process_exited x) {
      caf::anon_send(control.supervisor, std::move(x));
    });
  return {};
}

core::result<void> engine::impl::spawn() {
  const runtime::part_context with{settings, profile,   stages, arena,
                                   workers,  scheduler, {},     own.executors,
                                   false,    digests};
  runtime::control_context c;
  c.others = processes;
  c.clients = clients;
  c.scheduler = scheduler;
  c.watch = watch;
  c.processes = processes;
  c.offload = offload;
  c.policy = policy;
  c.first_plan = first_plan;
  c.arena = arena->id();
  c.drawing = drawing;
  control = runtime::spawn_control(*sys, with, c);
  pools = runtime::spawn_recall(*sys, with);
  if (processes) {
    caf::anon_send(control.supervisor, actors::start_atom::value);
    return {};
  }
  workers->run_on_the_spot(*sys);
  for (auto& x : runtime::spawn_cpu_pools(*sys, with))
    pools.push_back(std::move(x));
  uint32_t index = 0;
  for (const auto& device : settings.devices) {
    auto part = runtime::spawn_device(*sys, with, device, index++);
    if (!part)
      return part.why();
    devices.push_back(std::move(*part));
  }
  return {};
}

core::result<std::shared_ptr<const planning::plan>> engine::impl::
  make_first_plan() {
  using made_plan = core::result<std::shared_ptr<const planning::plan>>;
  const auto made = std::make_shared<std::promise<made_plan>>();
  auto plan = made->get_future();
  offload->run({}, [made, policy = policy, known = profile] {
    try {
      made->set_value(std::make_shared<const planning::plan>(
        policy->replan({}, *known, {}, {})));
    } catch (const std::exception& e) {
      made->set_value(core::fail(ec::bad_config,
                                 "policy.name: '{}' cannot make its first "
                                 "plan: {}",
                                 policy->name(), e.what()));
    }
  });
  if (plan.wait_for(plan_patience) == std::future_status::ready)
    return plan.get();
  plans_late = true;
  return std::make_shared<const planning::plan>(
    planning::vanilla{}.replan({}, *profile, {}, {}));
}

void engine::impl::tell_plan(const planning::plan& plan,
                             engine_status& s) const {
  s.plan_version = plan.version;
  s.thresholds = plan.thresholds;
  s.deferred = plan.deferred;
  s.admitted_rates = plan.admitted_rates;
  s.saturated = plan.saturated;
  s.infeasible = plan.reason;
  auto reasons = policy->explain(plan);
  s.reasons = std::move(reasons.lines);
  s.objective = reasons.objective;
  for (const auto v : plan.wishes.there)
    s.wanted.push_back(profile->variants.at(v.value).name);
  for (const auto v : plan.wishes.away)
    s.sent_away.push_back(profile->variants.at(v.value).name);
  for (size_t i = 0; i < plan.routes.size(); ++i) {
    const auto& from = plan.routes[i];
    route_status to;
    to.name = from.name;
    for (const auto& stage : from.legs) {
      if (stage.check)
        to.threshold = stage.check->threshold;
      auto& names = to.stages.emplace_back();
      for (const auto variant : stage.any_of)
        names.push_back(profile->variants.at(variant.value).name);
    }
    for (const auto& of_class : plan.share)
      to.shares.push_back(i < of_class.size() ? of_class[i] : 0);
    s.routes.push_back(std::move(to));
  }
}

std::vector<profile_status> engine::impl::texts_of(
  std::shared_ptr<const planning::profile> x,
  std::optional<planning::hit_predictor> measured) const {
  const std::lock_guard guard{telling};
  if (x == told && measured == told_predictor)
    return told_texts;
  told_texts.clear();
  const auto add = [&](const std::string& kind, planning::profile seen) {
    if (measured && seen.reuse)
      seen.reuse->predictor = measured;
    told_texts.push_back(
      {kind, std::make_shared<const std::string>(planning::to_json(seen))});
  };
  add({}, *x);
  for (const auto& k : x->kinds)
    add(k.kind, planning::seen_on(*x, k.kind));
  told = std::move(x);
  told_predictor = measured;
  return told_texts;
}

void engine::impl::keep_status(const engine_status& x) const {
  const std::lock_guard guard{keeping};
  kept_status = x;
}

engine_status engine::impl::last_status() const {
  const std::lock_guard guard{keeping};
  auto x = kept_status;
  x.is_stale = true;
  return x;
}

bool engine::impl::ready(const actors::scheduler_status& s) const {
  if (s.workers.size() != settings.devices.size())
    return false;
  // Without its pool's workers a stage would be left out of the first requests.
  return std::ranges::all_of(
    runtime::pools_of(settings, stages), [&](const actors::pool_size& pool) {
      const auto i = s.pool_workers.find(pool.of);
      return i != s.pool_workers.end() && i->second == pool.workers;
    });
}

core::result<void> engine::impl::all_loaded(
  const actors::scheduler_status& s) const {
  for (const auto& w : s.workers)
    if (!w.failed.empty()) {
      const auto& x = w.failed.front();
      return core::fail(x.why.code, "devices: {}: {} cannot be loaded: {}",
                        w.device, profile->variants.at(x.variant.value).name,
                        x.why.text);
    }
  return {};
}

bool engine::impl::is_planned() const {
  const auto s =
    ask_status<actors::planner_actor, actors::planner_status>(control.planner);
  return s && s->devices == settings.devices.size();
}

core::result<void> engine::impl::wait_until_ready() {
  const auto patience = start_patience + settings.processes.setup;
  const auto until = std::chrono::steady_clock::now() + patience;
  std::optional<std::chrono::steady_clock::time_point> joined;
  while (std::chrono::steady_clock::now() < until) {
    const auto s =
      ask_status<actors::scheduler_actor, actors::scheduler_status>(
        control.scheduler);
    if (s && ready(*s)) {
      const auto now = std::chrono::steady_clock::now();
      if (!joined)
        if (auto all = all_loaded(*s); !all)
          return all;
      joined = joined.value_or(now);
      if (is_planned())
        return {};
      if (plans_late || now >= *joined + plan_patience) {
        core::log_warn("policy {} has made no plan for the devices yet; until "
                       "then {} is used",
                       policy->name(),
                       plans_late ? "the plan of vanilla" : "its default plan");
        return {};
      }
    }
    const auto lines =
      ask_status<actors::supervisor_actor, std::vector<actors::process_line>>(
        control.supervisor);
    if (lines)
      for (const auto& p : *lines) {
        if (p.refusal.code != ec::none)
          return core::fail(p.refusal.code, "the process of {}: {}", p.part,
                            p.refusal.text);
        if (p.restarts >= most_start_attempts)
          return core::fail(ec::unavailable,
                            "the process of {} ended {} times while starting; "
                            "its own message is above",
                            p.part, p.restarts);
      }
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return core::fail(ec::unavailable,
                    "the workers were not ready after {:.0f} s",
                    core::to_seconds(patience));
}

void engine::impl::rouse() const {
  if (processes)
    processes->rouse();
  for (const auto& x : devices)
    x.device->rouse();
}

void engine::impl::end() {
  const std::lock_guard once{ending};
  if (std::exchange(ended, true))
    return;
  // A caller that was not refused yet has entered its request, which is
  // answered below.
  entrance.close();
  own.plans->abandon();
  if (sys) {
    // Open requests are answered before anything that they could need is gone.
    if (control.scheduler)
      caf::anon_send(control.scheduler, actors::stop_atom::value);
    if (clients)
      clients->wait_until_answered(status_patience);
    if (control.supervisor)
      caf::anon_send(control.supervisor, actors::stop_atom::value);
    // Kills processes that do not leave by themselves, and reads no ring
    // afterwards.
    if (processes)
      processes->end(settings.processes.grace);
    if (clients)
      clients->close();
    hall.close();
    auto kill = [](auto& x) {
      if (x)
        caf::anon_send_exit(x, caf::exit_reason::kill);
      x = nullptr;
    };
    for (auto& x : pools)
      kill(x);
    for (auto& x : devices) {
      kill(x.actor);
      kill(x.stages);
    }
    kill(control.supervisor);
    kill(control.planner);
    kill(control.monitor);
    kill(control.scheduler);
    // Actors use the ports until they are gone, on the devices' threads too.
    sys->await_all_actors_done();
    devices.clear();
    workers->clear();
    scheduler->clear();
    watch->clear();
    offload.reset();
    sys.reset();
  }
  if (predicts)
    predicts->stop();
  // Frees the cache's folder for the next engine, with its last holder.
  predicts.reset();
  stages.reset();
  kept.reset();
  processes.reset();
  if (drawing)
    drawing->close();
  // The memory ends with its last holder.
  arena.reset();
  if (clients)
    clients->wait_until_empty(status_patience);
  instructions.reset();
  log.reset();
}

} // namespace atelier
