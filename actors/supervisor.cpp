// SPDX-License-Identifier: Apache-2.0

//   down --start--> starting --started--> setting_up --first sign--> up
//   up --silent--> suspected (killed)
//   setting_up --too long--> suspected
//   any of these --suspected by the scheduler--> suspected
//   suspected --not confirmed in time--> unconfirmed
//   any of them --exited--> down, due after a pause
//   stop: asked to leave; killed when the grace is over; over

#include <atelier/actors/exception_border.hpp>
#include <atelier/actors/supervisor.hpp>

#include <algorithm>

namespace atelier::actors {

namespace {

using pointer = self_of<supervisor_actor, supervisor_state>;
using stage = supervisor_state::stage;
using process = supervisor_state::process;
using past_deaths = supervisor_state::past_deaths;

/// Deaths of a part that was up are unrelated if they are further apart than
/// this.
constexpr core::timespan deaths_apart = std::chrono::seconds{10};

core::timespan tick_of(const config::process_settings& s) {
  return std::clamp<core::timespan>(s.heartbeat / 4,
                                    std::chrono::milliseconds{10},
                                    std::chrono::milliseconds{250});
}

/// Returns the time by which the supervisor measures.
core::time_point now_of(pointer self) {
  return self->state.clock->look(self->clock().now());
}

/// Adds the counts of `more` to those of `to`.
void add(std::vector<blocked_handlers>& to,
         const std::vector<blocked_handlers>& more) {
  for (const auto& x : more) {
    const auto at = std::find_if(
      to.begin(), to.end(), [&](const auto& y) { return y.actor == x.actor; });
    if (at != to.end())
      at->count += x.count;
    else
      to.push_back(x);
  }
}

/// Notes a death and returns the pause before the next life: the first pause,
/// or twice the last one if the part died within `deaths_apart` or never came
/// up.
core::timespan pause_after_death(past_deaths& of, core::time_point now,
                                 bool was_up,
                                 const config::process_settings& s) {
  const bool apart = was_up && (!of.last || now - *of.last > deaths_apart);
  of.pause = apart || of.pause.count() == 0
             ? s.restart_first
             : std::min(of.pause * 2, s.restart_most);
  of.last = now;
  return of.pause;
}

/// A request caused the last death: returns when the next life is due, and
/// resets the next pause to the first one.
core::time_point due_after_request(past_deaths& of,
                                   const config::process_settings& s) {
  of.pause = core::timespan{0};
  return *of.last + s.restart_first;
}

void start(pointer self, process& p) {
  ++p.life.value;
  add(p.blocked_before, p.blocked);
  p.blocked.clear();
  p.stage = stage::starting;
  p.was_up = false;
  p.last_sign = now_of(self);
  p.last_ping = p.last_sign;
  p.reprieved.reset();
  self->state.config.host->start(self->state.life_of(p), p.part, p.bare);
}

void suspect(pointer self, process& p, const std::string& why) {
  auto& st = self->state;
  if (p.stage != stage::up && p.stage != stage::setting_up
      && p.stage != stage::starting)
    return;
  core::log_warn("process {} (pid {}) is suspected: {}", p.part, p.pid, why);
  p.stage = stage::suspected;
  p.due = now_of(self) + st.config.settings.confirm;
  self->send(st.config.scheduler, process_suspected{st.life_of(p)});
  st.config.host->kill(st.life_of(p));
}

void schedule_restart(pointer self, process& p) {
  auto& st = self->state;
  const auto now = now_of(self);
  const auto& s = st.config.settings;
  if (st.stopping) {
    p.stage = stage::over;
    return;
  }
  p.stage = stage::down;
  p.due = now + pause_after_death(p.deaths, now, p.was_up, s);
  ++p.restarts;
}

/// Asks for a sign of life.
void ping_now(pointer self, process& p) {
  auto& st = self->state;
  p.last_ping = now_of(self);
  st.config.host->ping(st.life_of(p), ++st.pings);
}

/// Asks for a sign of life if one is due.
void ask(pointer self, process& p) {
  if (now_of(self) - p.last_ping >= self->state.config.settings.heartbeat)
    ping_now(self, p);
}

void look(pointer self, process& p) {
  auto& st = self->state;
  const auto now = now_of(self);
  const auto& s = st.config.settings;
  if (st.stopping && now >= st.leave_by)
    suspect(self, p, "it did not leave in time");
  switch (p.stage) {
    case stage::down:
      if (now >= p.due)
        start(self, p);
      break;
    case stage::setting_up:
      if (now - p.last_sign > s.setup)
        suspect(self, p,
                fmt::format("not set up after {:.1f} s (processes.setup_ms)",
                            core::to_seconds(now - p.last_sign)));
      else
        ask(self, p);
      break;
    case stage::up:
      if (now - p.last_sign > s.silence)
        suspect(self, p,
                fmt::format("no sign for {:.1f} s",
                            core::to_seconds(now - p.last_sign)));
      else
        ask(self, p);
      break;
    case stage::suspected:
      if (now >= p.due) {
        core::log_error("the exit of process {} (pid {}) is not confirmed; its "
                        "slots stay quarantined",
                        p.part, p.pid);
        p.stage = stage::unconfirmed;
        self->send(st.config.scheduler,
                   process_lost{st.life_of(p), false, death::watchdog});
      }
      break;
    case stage::starting:
    case stage::unconfirmed:
    case stage::over:
      break;
  }
}

void start_all(pointer self) {
  auto& s = self->state;
  if (s.started || s.stopping || s.processes.empty())
    return;
  s.started = true;
  for (auto& p : s.processes)
    start(self, p);
  self->delayed_send(self, tick_of(s.config.settings), tick_atom::value);
}

/// Shortens the pause before a restart if a request killed the process.
void restart_sooner(pointer self, const request_caused& x) {
  auto& s = self->state;
  auto* p = s.find(x.process);
  if (p != nullptr && p->stage == stage::down)
    p->due = std::min(p->due, due_after_request(p->deaths, s.config.settings));
}

void began(pointer self, const process_started& x) {
  auto* p = self->state.find(x.process);
  if (p == nullptr || p->stage == stage::over)
    return;
  if (x.failure.code != core::ec::none) {
    core::log_error("process {} could not be started: {}", p->part,
                    core::to_string(x.failure));
    p->refusal = x.failure;
    return schedule_restart(self, *p);
  }
  p->pid = x.pid;
  if (p->stage == stage::starting) {
    p->stage = stage::setting_up;
    p->last_sign = now_of(self);
    // The process reads the ping as soon as it is set up: it is up before it
    // has its workers.
    ping_now(self, *p);
  }
}

void showed_life(pointer self, const pong& x) {
  auto* p = self->state.find(x.process);
  if (p == nullptr)
    return;
  p->last_sign = now_of(self);
  p->refusal = {};
  p->blocked = x.blocked;
  p->was_up = true;
  if (p->stage == stage::setting_up)
    p->stage = stage::up;
}

void refused(pointer self, const setup_refused& x) {
  auto* p = self->state.find(x.process);
  if (p == nullptr)
    return;
  core::log_error("process {} (pid {}) cannot be set up: {}", p->part, p->pid,
                  core::to_string(x.why));
  p->refusal = x.why;
}

void ended(pointer self, const process_exited& x) {
  auto& s = self->state;
  auto* p = s.find(x.process);
  if (p == nullptr || p->stage == stage::down)
    return;
  if (!s.stopping)
    core::log_warn("process {} (pid {}) ended: {}", p->part, p->pid, x.manner);
  self->send(s.config.scheduler, process_lost{x.process, true, x.cause});
  p->bare = p->bare
         || (p->stage == stage::setting_up
             && (x.cause == death::crash || x.cause == death::memory));
  schedule_restart(self, *p);
}

/// This process did not run for a while: signs may have been missed, so that
/// every process gets the time to answer once more; once in a silence, lest a
/// process that is late again and again never finds one that hangs.
void ask_anew(pointer self) {
  auto& st = self->state;
  const auto& s = st.config.settings;
  const auto now = now_of(self);
  for (auto& p : st.processes)
    if (p.stage == stage::up) {
      const auto least = now - s.silence + s.heartbeat;
      if (p.last_sign < least
          && (!p.reprieved || now - *p.reprieved >= s.silence)) {
        p.last_sign = least;
        p.reprieved = now;
      }
      ping_now(self, p);
    }
}

void look_at_all(pointer self) {
  auto& s = self->state;
  now_of(self);
  if (s.clock->take_pause())
    ask_anew(self);
  bool any = false;
  for (auto& p : s.processes) {
    look(self, p);
    any = any || p.stage != stage::over;
  }
  if (any)
    self->delayed_send(self, tick_of(s.config.settings), tick_atom::value);
}

void stop_all(pointer self) {
  auto& s = self->state;
  if (s.stopping)
    return;
  s.stopping = true;
  s.leave_by = now_of(self) + s.config.settings.grace;
  for (auto& p : s.processes) {
    if (p.stage == stage::down)
      p.stage = stage::over;
    else if (p.stage != stage::over)
      s.config.host->ask_to_leave(s.life_of(p));
  }
}

std::vector<process_line> lines_of(const std::vector<process>& processes) {
  std::vector<process_line> lines;
  for (const auto& p : processes) {
    auto blocked = p.blocked_before;
    add(blocked, p.blocked);
    lines.push_back({p.part, p.pid, p.restarts,
                     p.stage == stage::up || p.stage == stage::setting_up,
                     std::move(blocked), p.stage == stage::up, p.refusal});
  }
  return lines;
}

} // namespace

process* supervisor_state::find(ipc::process_life who) {
  const auto index = who.process.value - 1;
  if (who.process.value == 0 || index >= processes.size()
      || processes[index].life != who.life)
    return nullptr;
  return &processes[index];
}

ipc::process_life supervisor_state::life_of(const process& p) const {
  const auto index = static_cast<uint32_t>(&p - processes.data());
  return {core::process_id{index + 1}, p.life};
}

supervisor_actor::behavior_type supervisor(
  self_of<supervisor_actor, supervisor_state> self, supervisor_config config) {
  install_aborting_border(self);
  auto& st = self->state;
  st.config = std::move(config);
  st.clock.emplace(2 * tick_of(st.config.settings));
  for (const auto& part : st.config.parts) {
    process p;
    p.part = part;
    st.processes.push_back(std::move(p));
  }
  return {
    [self](start_atom) { start_all(self); },
    [self](const suspect_process& x) {
      if (auto* p = self->state.find(x.process))
        suspect(self, *p, x.why);
    },
    [self](const request_caused& x) { restart_sooner(self, x); },
    [self](const process_started& x) { began(self, x); },
    [self](const pong& x) { showed_life(self, x); },
    [self](const setup_refused& x) { refused(self, x); },
    [self](const process_exited& x) { ended(self, x); },
    [self](tick_atom) { look_at_all(self); },
    [self](stop_atom) { stop_all(self); },
    [self](status_atom) { return lines_of(self->state.processes); },
  };
}

} // namespace atelier::actors
