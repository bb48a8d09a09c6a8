// SPDX-License-Identifier: Apache-2.0

// The whole system in virtual time, on one thread:
//
//   trace -> scheduler -> simulated_host: preprocess, denoise_step, postprocess
//            planner, monitor, supervisor        (virtual executors)
//
// Everything that takes time is a timeout of CAF's test clock; between two of
// them every message is run. Long, because the connections of the actors are
// read together with the events that drive them: arrivals, faults, looks.

#include <atelier/actors/stage_path.hpp>
#include <atelier/actors/wiring.hpp>
#include <atelier/core/log.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/planning/grouping.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/simulation/accounts.hpp>
#include <atelier/simulation/knowledge.hpp>
#include <atelier/simulation/measured_policy.hpp>
#include <atelier/simulation/simulate.hpp>
#include <atelier/simulation/simulated_cache.hpp>
#include <atelier/simulation/simulated_host.hpp>
#include <atelier/simulation/simulated_loads.hpp>
#include <atelier/simulation/simulated_requests.hpp>
#include <atelier/simulation/simulated_stages.hpp>
#include <atelier/simulation/virtual_offload.hpp>
#include <atelier/simulation/virtual_timers.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>
#include <variant>

namespace atelier::runtime {

namespace {

/// A run whose requests do not end this long after the last arrival is broken.
constexpr double most_tail_seconds = 36'000;

/// Maximum number of workers of which each is pinged every second.
constexpr uint32_t few_workers = 64;

/// Length of a trace from which processes without faults are watched less
/// often.
constexpr double long_seconds = 86'400;

/// Steps between two reports of progress by a device that runs edits.
constexpr uint32_t told_steps = 4;

/// Puts an actor system on one thread, without a real clock.
struct virtual_config : caf::actor_system_config {
  virtual_config() {
    add_message_types<caf::id_block::atelier>();
    set("scheduler.policy", caf::atom("testing"));
    set("logger.file-verbosity", caf::atom("quiet"));
  }
};

template <class State, class Handle>
State& state_of(const Handle& of) {
  using base = actors::actor_with<Handle, State>;
  return dynamic_cast<base&>(*caf::actor_cast<caf::abstract_actor*>(of)).state;
}

config::process_settings watching(const scenario& of) {
  config::process_settings x;
  auto slower = std::max(1u, of.workers / few_workers);
  // Over days, signs of life would be most of the events; they change nothing
  // if no process dies.
  if (of.faults.empty() && of.trace.back().seconds > long_seconds)
    slower *= 60;
  x.heartbeat *= slower;
  x.silence *= slower;
  return x;
}

/// Runs the messages that are left when all senders are gone, so that every
/// actor ends: the system waits for the actors.
struct last_messages {
  ~last_messages() {
    while (of.try_run_once()) {
    }
  }

  caf::scheduler::test_coordinator& of;
};

/// Port for the reports of the pools' workers: each stage's work takes the time
/// that the stage predicts, in parallel with all others.
class timed_pools : public actors::scheduler_port {
public:
  timed_pools(std::shared_ptr<virtual_timers> timers,
              std::shared_ptr<actors::scheduler_port> to)
    : timers_(std::move(timers)), to_(std::move(to)) {}

  void send(actors::report what) override {
    if (auto* has = std::get_if<actors::has_order>(&what))
      has->has = has->has || under_way_->count(has->ticket) != 0;
    const auto* done = std::get_if<actors::stage_done>(&what);
    if (done == nullptr || done->took.count() == 0)
      return to_->send(std::move(what));
    under_way_->insert(done->ticket);
    timers_->after(done->took, [to = to_, what = std::move(what),
                                who = done->ticket, all = under_way_] {
      all->erase(who);
      to->send(what);
    });
  }

private:
  std::shared_ptr<std::set<core::ticket>> under_way_ =
    std::make_shared<std::set<core::ticket>>();
  std::shared_ptr<virtual_timers> timers_;
  std::shared_ptr<actors::scheduler_port> to_;
};

/// What a request will leave in the cache: latents after these steps, or its
/// image.
struct leftover {
  std::vector<uint32_t> latents;
  uint32_t depth = 0;
};

/// Returns the factor from cosines of prompts to similarities as in the
/// profile's tables.
double scale_of(const scenario& x) {
  if (x.cache.scale > 0)
    return x.cache.scale;
  const auto& reuse = x.profile->reuse;
  // Between texts and images CLIP's similarities end at about a third.
  constexpr double of_images = 0.32;
  return reuse && reuse->latents.empty() && !reuse->images.empty()
          && reuse->images_by == planning::compared::images
         ? of_images
         : 1;
}

class simulation {
public:
  /// @param known source of the stages' answers; not begun yet
  /// @param lacks where decisions record values that nothing measured
  simulation(const scenario& of, std::shared_ptr<simulated_knowledge> known,
             std::shared_ptr<const planning::pipeline> stages,
             const unmeasured& lacks, simulated_scores scores)
    : of_(of),
      knowledge_(std::move(known)),
      stages_(std::move(stages)),
      lacks_(lacks),
      scores_(std::move(scores)),
      sched_(dynamic_cast<caf::scheduler::test_coordinator&>(sys_.scheduler())),
      begin_(sched_.clock().now()),
      books_(of, begin_) {
    for (const auto& v : of.profile->variants)
      most_steps_ = std::max(most_steps_, v.steps);
    for (const auto& a : of.trace) {
      tells_ = tells_ || a.masked > 0 || a.variant != planning::no_name;
      most_steps_ = std::max(most_steps_, a.steps);
    }
    timers_ = std::make_shared<virtual_timers>(sys_);
    offload_ = std::make_shared<virtual_offload>(timers_);
    policy_ = std::make_shared<measured_policy>(of.policy, times_);
    const auto slots = slots_of(of);
    store_ = std::make_shared<ipc::heap_store>(1, slots);
    knowledge_->begin(timers_);
    if (of.cache.entries > 0)
      make_cache();
    make_host();
    spawn_control(slots);
    script_faults();
    next_look();
  }

  ~simulation() {
    // Runs while everything that the messages call still exists.
    run_all();
    host_->clear();
    watch_->clear();
    reports_->clear();
    for (const auto& x : control_)
      caf::anon_send_exit(x, caf::exit_reason::kill);
    control_.clear();
    scheduler_ = nullptr;
    planner_ = nullptr;
    supervisor_ = nullptr;
    run_all();
    knowledge_->end();
  }

  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  core::result<outcome> run(const std::function<bool(uint64_t)>& progress) {
    const auto wall = std::chrono::steady_clock::now();
    const auto last = core::after(
      begin_, core::from_seconds(of_.trace.back().seconds + most_tail_seconds));
    auto& clock = sched_.clock();
    std::string broken;
    uint64_t told = 0;
    uint32_t quiet = 0;
    start();
    while (books_.booked() < of_.trace.size()) {
      while (sched_.try_run_once()) {
        ++events_;
        if (of_.check_every > 0 && events_ % of_.check_every == 0
            && broken.empty())
          broken = tables().check();
      }
      if (!lacks_.name.empty())
        return core::fail(core::ec::invalid_argument, "{} {}",
                          of_.policy->name(), lacks_.name);
      if (books_.booked() >= of_.trace.size())
        break;
      const auto& due = clock.schedule();
      if (due.empty() || due.begin()->first > last)
        return core::fail(core::ec::internal,
                          "{} of {} requests are not answered {} s after the "
                          "last arrival",
                          of_.trace.size() - books_.booked(), of_.trace.size(),
                          most_tail_seconds);
      sched_.trigger_timeout();
      // While requests are far apart nothing is booked, and the caller may want
      // to stop.
      if (progress && (books_.booked() >= told + 1000 || ++quiet == 1000)) {
        told = books_.booked();
        quiet = 0;
        if (!progress(told))
          return core::fail(core::ec::cancelled, "the simulation was stopped");
      }
    }
    look();
    auto out = books_.close(clock.now());
    out.events = events_;
    out.broken = std::move(broken);
    const auto& plan = *state_of<actors::planner_state>(planner_).in_force;
    if (plan.feasible == planning::feasibility::never)
      out.infeasible = plan.reason;
    out.plans = times_->plans_ms.size();
    out.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - wall)
        .count();
    auto& plans = times_->plans_ms;
    auto& routes = times_->routes_us;
    std::sort(plans.begin(), plans.end());
    std::sort(routes.begin(), routes.end());
    const auto part = [](const std::vector<float>& sorted, double p) {
      if (sorted.empty())
        return 0.0;
      const auto at =
        static_cast<size_t>(p * static_cast<double>(sorted.size() - 1));
      return static_cast<double>(sorted[at]);
    };
    out.plan_p50_wall_ms = part(plans, 0.5);
    out.plan_max_wall_ms = part(plans, 1);
    out.plan_mean_wall_ms =
      std::accumulate(plans.begin(), plans.end(), 0.0)
      / static_cast<double>(std::max<size_t>(plans.size(), 1));
    out.route_p50_wall_us = part(routes, 0.5);
    out.route_p99_wall_us = part(routes, 0.99);
    return out;
  }

private:
  void run_all() {
    while (sched_.try_run_once()) {
    }
  }

  const actors::scheduler& tables() {
    return *state_of<actors::scheduler_state>(scheduler_).tables;
  }

  double seconds_now() const {
    return core::to_seconds(timers_->now() - begin_);
  }

  void at_seconds(double when, std::function<void()> what) {
    const auto delay = core::from_seconds(when) - (timers_->now() - begin_);
    timers_->after(std::max(delay, core::timespan{0}), std::move(what));
  }

  // -- requests ---------------------------------------------------------------

  /// Starts what starts without a delay, as an engine does before it accepts
  /// requests: a fact stage without its worker would be left out.
  void start() {
    const auto& clock = sched_.clock();
    for (;;) {
      while (sched_.try_run_once())
        ++events_;
      const auto& due = clock.schedule();
      if (due.empty() || due.begin()->first > clock.now())
        break;
      sched_.trigger_timeout();
    }
    next_arrival();
  }

  void next_arrival() {
    if (arrivals_ >= of_.trace.size())
      return;
    at_seconds(of_.trace[arrivals_].seconds, [this] {
      const core::request_id id{++arrivals_};
      auto x = requests_.make(id, timers_->now());
      loads_.arrived(*x);
      caf::anon_send(scheduler_, actors::submit{std::move(x)});
      next_arrival();
    });
  }

  // A client that wanted several images has no use for only some of them.
  void give_up_beside(core::request_id id) {
    const auto& traced = of_.trace[id.value - 1];
    if (traced.images < 2)
      return;
    auto first = id.value - 1;
    while (first > 0 && of_.trace[first - 1].request == traced.request)
      --first;
    for (auto i = first;
         i < of_.trace.size() && of_.trace[i].request == traced.request; ++i)
      if (i + 1 != id.value)
        caf::anon_send(scheduler_,
                       actors::cancel_request{core::request_id{i + 1}});
  }

  /// Gives devices the states of earlier work, and counts the orders of fact
  /// stages and of fetching: the duration of steps must not depend on them.
  struct workers_port : actors::handoff {
    explicit workers_port(simulation& x) : of(x) {}

    core::result<void> send(const actors::worker_address& to,
                            actors::work what) override {
      if (const auto* x = std::get_if<actors::run_stage>(&what)) {
        const auto& row = of.stages_->at(x->stage).row();
        if (row.hook == planning::hook::before_route || row.name == "fetch")
          ++of.asides_[x->ticket.id];
      } else if (const auto* d = std::get_if<actors::denoise>(&what)) {
        of.give_state(*d);
      }
      return of.host_->send(to, std::move(what));
    }

    void settle() override {
      of.host_->settle();
    }

    simulation& of;
  };

  /// Puts the state of earlier work with which an order begins in place of the
  /// noise.
  void give_state(const actors::denoise& x) {
    const auto seq = uint64_t{x.steps_done} + 1;
    const auto last = store_->published(x.from);
    if (!last || *last == seq)
      return;
    // A slot's publications only rise, but another worker may skip less.
    store_->open(x.from);
    if (auto told = store_->publish(x.from, seq, 0); !told)
      core::log_error("request {}: {}", x.ticket.id.value,
                      core::to_string(told.why()));
  }

  struct clients_port : actors::gateway {
    explicit clients_port(simulation& x) : of(x) {}

    void answered(actors::answer what) override {
      if (what.image)
        caf::anon_send(of.scheduler_, actors::taken_answer{what.request->id});
      of.books_.book(what, of.timers_->now());
      of.loads_.ended(*what.request);
      if (what.failure.code != core::ec::none
          && what.failure.code != core::ec::cancelled)
        of.give_up_beside(what.request->id);
      of.times_->masked.erase(what.request->id);
      of.keep(what);
    }

    void progressed(core::request_id, uint32_t, uint32_t,
                    ipc::slot_ref) override {}

    simulation& of;
  };

  // -- the cache --------------------------------------------------------------

  void make_cache() {
    const auto near = *nearness_of(of_, planning::compared::prompts);
    prompts_ = std::make_unique<synthetic_prompts>(
      of_.cache, near.mean, near.spread, of_.trace.size(), of_.seed);
    cache_ =
      std::make_unique<simulated_cache>(of_.cache, *prompts_, scale_of(of_));
    knowledge_->search(*cache_);
    times_->taken = [this](core::request_id id, const planning::route& along,
                           const planning::facts& known,
                           const planning::go& how) {
      take_route(id, along, known, how);
    };
  }

  // Marks the start of a request as used, and remembers what it will leave.
  void take_route(core::request_id id, const planning::route& along,
                  const planning::facts& known, const planning::go& how) {
    // An image that is the answer leaves nothing, and is marked as used when it
    // is published.
    if (along.legs.empty())
      return;
    const auto& first = along.legs.front();
    leftover leaves;
    const bool latent = first.from == planning::origin::latent;
    if ((latent || first.from == planning::origin::image) && known.near
        && how.match.value_or(0) < known.near->size()) {
      const auto& from = (*known.near)[how.match.value_or(0)];
      uint32_t most = 0;
      for (const auto k : from.stored)
        most = k <= first.skip ? std::max(most, k) : most;
      if (!latent || most > 0)
        cache_->use(from.entry, most, seconds_now());
      leaves.depth = latent ? 0 : from.depth + 1;
    }
    if (along.store.latents)
      for (const auto& s : along.legs)
        leaves.latents.insert(leaves.latents.end(), s.capture.begin(),
                              s.capture.end());
    std::sort(leaves.latents.begin(), leaves.latents.end());
    if (!leaves.latents.empty() || along.store.image)
      leaves_[id] = std::move(leaves);
  }

  // Only complete results are stored, once their request is answered.
  void keep(const actors::answer& what) {
    const auto at = leaves_.extract(what.request->id);
    if (at && what.failure.code == core::ec::none)
      cache_->insert(what.request->id.value - 1, at.mapped().latents,
                     at.mapped().depth, seconds_now());
  }

  // -- looking ----------------------------------------------------------------

  void next_look() {
    timers_->after(core::from_seconds(of_.interval_seconds), [this] {
      look();
      next_look();
    });
  }

  void look() {
    const auto& plan = *state_of<actors::planner_state>(planner_).in_force;
    books_.look(tables(), plan, timers_->now(), cache_.get());
  }

  // -- the system -------------------------------------------------------------

  void make_host() {
    simulated_host_config c;
    c.timers = timers_;
    c.scheduler = reports_;
    c.script = [this](ipc::process_life who) {
      process_script script;
      script.start_delay = outage(who);
      return script;
    };
    c.sign = [this](const actors::pong& x) {
      if (supervisor_)
        caf::anon_send(supervisor_, x);
    };
    c.spawn = [this](ipc::process_life who, const std::string& part,
                     const std::shared_ptr<actors::scheduler_port>& port) {
      return part == "cpu" ? spawn_pools(who, port) : spawn_device(who, port);
    };
    host_ = std::make_shared<simulated_host>(std::move(c));
  }

  process_body spawn_pools(
    ipc::process_life who,
    const std::shared_ptr<actors::scheduler_port>& reports) {
    process_body body;
    const auto port = std::make_shared<timed_pools>(timers_, reports);
    const actors::stage_path path{stages_};
    for (const auto of : {actors::role::preprocess, actors::role::postprocess,
                          actors::role::classifier, actors::role::recall}) {
      if (!path.has_stage_of(of))
        continue;
      auto some =
        actors::spawn_pool(sys_, *body.workers, who, {of, 1, pool_seats},
                           {{}, 1, stages_, store_, port, of_.profile});
      body.actors.insert(body.actors.end(), some.begin(), some.end());
    }
    return body;
  }

  process_body spawn_device(
    ipc::process_life who,
    const std::shared_ptr<actors::scheduler_port>& port) {
    process_body body;
    const auto device = who.process.value - process_of(0).value;
    const auto* group = planning::group_of(of_.devices, device);
    // The device holds a model for all its levels, as a server's device does.
    const auto held = planning::levels_of(*of_.profile, core::variant_id{0});
    gpu::virtual_config v;
    v.known = group != nullptr ? profile_on(group->kind) : of_.profile;
    v.noise = of_.noise;
    v.seed = of_.seed ^ uint64_t { who.process.value } << 32;
    v.resident = held;
    v.score = [this](core::request_id id, const std::string& judge) {
      books_.judged(id, judge);
      return scores_(id, judge);
    };
    v.masked = [this](core::request_id id) {
      const auto at = times_->masked.find(id);
      return at != times_->masked.end() ? at->second : 1.0;
    };
    v.run_of = [this](core::ticket of) {
      const auto at = asides_.find(of.id);
      return of.attempt - (at != asides_.end() ? at->second : 0);
    };
    v.pace = [this, who] { return pace_of(who); };
    v.load_part = [this](core::variant_id x) { return loads_.part_of(x); };
    v.busy = [this, device](std::optional<core::variant_id> ran,
                            core::timespan t) {
      books_.worked(device, ran, t);
    };
    auto executor =
      std::make_shared<gpu::virtual_executor>(std::move(v), timers_, store_);
    actors::denoise_step_config d;
    d.self = {who, actors::role::denoise_step, 0};
    d.device = "simulated";
    d.kind = group != nullptr ? group->kind : d.device;
    for (const auto x : held)
      d.variants.push_back(of_.profile->variants[x.value].name);
    d.weights = planning::weights_of(*of_.profile);
    d.seats = batch_;
    d.max_batch = batch_;
    // Policies for edits, and for many variants, use the progress of each row.
    const bool tells = of_.edits.share > 0 || tells_;
    d.run_steps = tells ? std::min(told_steps, most_steps_) : most_steps_;
    d.publish_every = tells ? 1 : most_steps_;
    d.memory_bytes = of_.memory_bytes;
    d.device_executor = executor;
    d.scheduler = port;
    body.devices.push_back(executor);
    body.actors.push_back(caf::actor_cast<caf::actor>(
      actors::spawn_device(sys_, *body.workers, std::move(d))));
    return body;
  }

  /// Returns the true costs on a kind of device: those that the profile states
  /// for it.
  std::shared_ptr<const planning::profile> profile_on(const std::string& kind) {
    auto& seen = profiles_[kind];
    if (!seen)
      seen = std::make_shared<const planning::profile>(
        planning::seen_on(*of_.profile, kind));
    return seen;
  }

  void spawn_control(const planning::slot_counts& slots) {
    const auto processes = watching(of_);
    actors::control_config c;
    c.reports = reports_;
    c.watch = watch_;
    auto& scheduling = c.scheduler.tables;
    scheduling.limits.requests = UINT32_MAX;
    scheduling.limits.sources_bytes = UINT64_MAX;
    scheduling.processes = processes;
    scheduling.slots = slots;
    scheduling.seed = of_.seed;
    scheduling.policy = policy_;
    scheduling.profile = of_.profile;
    scheduling.initial_plan = std::make_shared<const planning::plan>(
      policy_->replan({}, *of_.profile, {}, {}));
    scheduling.stages = stages_;
    scheduling.devices_take_found_work = true;
    scheduling.join = of_.join;
    auto& ports = c.scheduler.ports;
    ports.slots = store_;
    ports.workers = std::make_shared<workers_port>(*this);
    ports.clients = std::make_shared<clients_port>(*this);
    c.monitor.window = of_.window;
    c.monitor.windows = of_.windows;
    c.planner.offload = offload_;
    c.planner.period = of_.period;
    c.planner.least_gap = std::chrono::milliseconds{100};
    c.supervisor.host = host_;
    c.supervisor.parts.emplace_back("cpu");
    c.supervisor.parts.resize(of_.workers + 1, "device");
    c.supervisor.settings = processes;
    const auto all = actors::spawn_control(sys_, std::move(c));
    scheduler_ = all.scheduler;
    planner_ = all.planner;
    supervisor_ = all.supervisor;
    host_->connect(
      [this](actors::process_started x) {
        if (supervisor_)
          caf::anon_send(supervisor_, std::move(x));
      },
      [this](actors::process_exited x) {
        if (supervisor_)
          caf::anon_send(supervisor_, std::move(x));
      });
    caf::anon_send(supervisor_, actors::start_atom::value);
    control_ = {caf::actor_cast<caf::actor>(scheduler_),
                caf::actor_cast<caf::actor>(all.monitor),
                caf::actor_cast<caf::actor>(planner_),
                caf::actor_cast<caf::actor>(supervisor_)};
  }

  // -- faults -----------------------------------------------------------------

  /// Process 1 holds the pools, process i + 2 the worker i.
  static core::process_id process_of(uint32_t worker) {
    return core::process_id{worker + 2};
  }

  /// Returns how long a process that starts now stays away.
  core::timespan outage(ipc::process_life who) const {
    const double now = seconds_now();
    double until = now;
    for (const fault& f : of_.faults) {
      const double end = f.at_seconds + f.for_seconds;
      const bool struck =
        f.kind == fault_kind::crash
        && who.process.value >= process_of(f.worker).value
        && who.process.value < process_of(f.worker).value + f.workers;
      if (struck && now >= f.at_seconds && now < end)
        until = std::max(until, end);
    }
    return core::from_seconds(until - now);
  }

  /// Returns the factor on a worker's usual time now.
  double pace_of(ipc::process_life who) const {
    const double now = seconds_now();
    double pace = 1;
    for (const fault& f : of_.faults)
      if (f.kind == fault_kind::slow_worker && now >= f.at_seconds
          && now < f.at_seconds + f.for_seconds
          && who.process.value >= process_of(f.worker).value
          && who.process.value < process_of(f.worker).value + f.workers)
        pace *= f.factor;
    return pace;
  }

  void script_faults() {
    for (const fault& f : of_.faults)
      switch (f.kind) {
        case fault_kind::crash:
          at_seconds(f.at_seconds, [this, f] {
            for (const auto w : struck(f))
              host_->crash(process_of(w));
          });
          break;
        case fault_kind::hang:
          at_seconds(f.at_seconds, [this, f] {
            for (const auto w : struck(f))
              host_->hang(process_of(w));
          });
          at_seconds(f.at_seconds + f.for_seconds, [this, f] {
            for (const auto w : struck(f))
              host_->wake(process_of(w));
          });
          break;
        case fault_kind::solver_late:
          at_seconds(f.at_seconds, [this, f] {
            offload_->delay(core::from_seconds(f.factor));
          });
          at_seconds(f.at_seconds + f.for_seconds,
                     [this] { offload_->delay({}); });
          break;
        case fault_kind::solver_fails:
          at_seconds(f.at_seconds, [this] { times_->solver_fails = true; });
          at_seconds(f.at_seconds + f.for_seconds,
                     [this] { times_->solver_fails = false; });
          break;
        case fault_kind::slow_worker:
        case fault_kind::slow_cache:
        case fault_kind::lost_cache:
        case fault_kind::load_jump:
          break;
      }
  }

  std::vector<uint32_t> struck(const fault& f) const {
    std::vector<uint32_t> out;
    for (uint32_t w = f.worker; w < std::min(of_.workers, f.worker + f.workers);
         ++w)
      out.push_back(w);
    return out;
  }

  const scenario& of_;
  const std::shared_ptr<simulated_knowledge> knowledge_;
  const std::shared_ptr<const planning::pipeline> stages_;
  const unmeasured& lacks_;
  const simulated_scores scores_;
  virtual_config settings_;
  caf::actor_system sys_{settings_};
  caf::scheduler::test_coordinator& sched_;
  last_messages last_{sched_};
  const core::time_point begin_;
  accounts books_;
  const uint32_t batch_ = batch_of(of_);
  uint32_t most_steps_ = 1;
  bool tells_ = false;
  uint64_t arrivals_ = 0;
  uint64_t events_ = 0;
  /// By kind of device.
  std::map<std::string, std::shared_ptr<const planning::profile>> profiles_;
  std::shared_ptr<virtual_timers> timers_;
  std::shared_ptr<virtual_offload> offload_;
  const simulated_requests requests_{of_};
  simulated_loads loads_{of_};
  std::shared_ptr<decision_times> times_ = std::make_shared<decision_times>();
  std::shared_ptr<const planning::policy> policy_;
  std::shared_ptr<ipc::heap_store> store_;
  std::shared_ptr<actors::mailbox_scheduler_port> reports_ =
    std::make_shared<actors::mailbox_scheduler_port>();
  std::shared_ptr<simulated_host> host_;
  std::shared_ptr<actors::mailbox_supervision> watch_ =
    std::make_shared<actors::mailbox_supervision>();
  std::unique_ptr<synthetic_prompts> prompts_;
  std::unique_ptr<simulated_cache> cache_;
  std::unordered_map<core::request_id, leftover> leaves_;
  /// How often stages before a route, and fetching, were ordered, by request;
  /// kept after its end, since a device may still run it.
  std::unordered_map<core::request_id, uint32_t> asides_;
  actors::scheduler_actor scheduler_;
  actors::planner_actor planner_;
  actors::supervisor_actor supervisor_;
  std::vector<caf::actor> control_;
};

core::result<outcome> run_of(const scenario& of,
                             const std::function<bool(uint64_t)>& progress) {
  unmeasured lacks;
  const auto known = std::make_shared<simulated_knowledge>(of, lacks);
  auto stages = stages_of(of, known);
  if (!stages)
    return stages.why();
  simulation run{of, known, std::move(*stages), lacks,
                 simulated_scores{of, lacks}};
  return run.run(progress);
}

} // namespace

core::result<outcome> simulate(const scenario& what,
                               const std::function<bool(uint64_t)>& progress) {
  if (auto ok = validate(what); !ok)
    return ok.why();
  const bool jumps =
    std::any_of(what.faults.begin(), what.faults.end(),
                [](const fault& f) { return f.kind == fault_kind::load_jump; });
  // A long trace is not copied.
  if (!jumps && planning::is_one_image_each(what.trace))
    return run_of(what, progress);
  scenario jumped = what;
  jumped.trace = planning::one_image_each(
    with_load_jumps(what.trace, what.faults, what.seed));
  if (jumped.trace.empty())
    return core::fail(core::ec::invalid_argument, "the load leaves no arrival");
  return run_of(jumped, progress);
}

} // namespace atelier::runtime
