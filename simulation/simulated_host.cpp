// SPDX-License-Identifier: Apache-2.0
#include <atelier/simulation/simulated_host.hpp>

#include <caf/send.hpp>

#include <deque>
#include <utility>

namespace atelier::runtime {

using actors::process_exited;
using actors::process_started;

/// One life of a process, from its start to its confirmed exit.
struct simulated_host::life {
  life(ipc::process_life w, process_script s, const simulated_host_config& c)
    : process(w),
      script(std::move(s)),
      in(c.timers, c.links),
      out(c.timers, c.links) {}

  const ipc::process_life process;
  const process_script script;
  process_body body;
  /// Its rings.
  delayed_link in;
  delayed_link out;
  bool started = false;
  bool is_up = false;
  bool hung = false;
  /// Why its end is certain; empty if it is not.
  std::string ending;
  actors::death cause = actors::death::outside;
  /// Read from the ring while the process hung.
  std::deque<std::pair<actors::worker_address, actors::work>> unread;
};

/// A process's end of its outbound ring.
class simulated_host::outbox : public actors::scheduler_port {
public:
  outbox(std::weak_ptr<simulated_host> host, ipc::process_life who)
    : host_(std::move(host)), who_(who) {}

  void send(actors::report what) override {
    const auto host = host_.lock();
    if (!host)
      return;
    auto* x = host->find(who_);
    if (x == nullptr || !x->is_up)
      return;
    x->out.post([scheduler = host->config_.scheduler, what = std::move(what)] {
      scheduler->send(what);
    });
  }

private:
  std::weak_ptr<simulated_host> host_;
  ipc::process_life who_;
};

simulated_host::simulated_host(simulated_host_config config)
  : config_(std::move(config)) {}

simulated_host::~simulated_host() = default;

void simulated_host::connect(std::function<void(process_started)> started,
                             std::function<void(process_exited)> exited) {
  started_ = std::move(started);
  exited_ = std::move(exited);
}

simulated_host::life* simulated_host::find(ipc::process_life who) {
  const auto i = lives_.find(who.process);
  return i != lives_.end() && i->second->process == who ? i->second.get()
                                                        : nullptr;
}

simulated_host::life* simulated_host::up(core::process_id which) {
  const auto i = lives_.find(which);
  return i != lives_.end() && i->second->is_up ? i->second.get() : nullptr;
}

void simulated_host::start(ipc::process_life who, std::string part, bool) {
  auto script = config_.script(who);
  const auto delay = script.start_delay;
  lives_[who.process] = std::make_unique<life>(who, std::move(script), config_);
  config_.timers->after(delay,
                        [weak = weak_from_this(), who, part = std::move(part)] {
                          const auto self = weak.lock();
                          if (!self)
                            return;
                          if (auto* x = self->find(who))
                            self->come_up(*x, part);
                        });
}

void simulated_host::come_up(life& x, const std::string& part) {
  process_started told{x.process,
                       static_cast<int32_t>(1000 + x.process.life.value),
                       x.script.start_failure};
  if (told.failure.code != core::ec::none) {
    const auto who = x.process.process;
    lives_.erase(who);
    return started_(std::move(told));
  }
  x.started = true;
  started_(std::move(told));
  // Killed before it came up.
  if (!x.ending.empty())
    return exit_later(x);
  if (x.script.setup_delay == core::timespan{0})
    return set_up(x, part);
  config_.timers->after(x.script.setup_delay,
                        [weak = weak_from_this(), who = x.process, part] {
                          const auto self = weak.lock();
                          auto* there = self ? self->find(who) : nullptr;
                          if (there != nullptr && there->ending.empty())
                            self->set_up(*there, part);
                        });
}

void simulated_host::set_up(life& x, const std::string& part) {
  x.is_up = true;
  x.body = config_.spawn(x.process, part,
                         std::make_shared<outbox>(weak_from_this(), x.process));
}

core::result<void> simulated_host::send(const actors::worker_address& to,
                                        actors::work what) {
  auto* x = find(to.process);
  if (x == nullptr || !x->is_up)
    return {};
  x->in.post([weak = weak_from_this(), to, what = std::move(what)] {
    const auto self = weak.lock();
    auto* there = self ? self->find(to.process) : nullptr;
    if (there == nullptr || !there->is_up)
      return;
    if (there->hung)
      there->unread.emplace_back(to, what);
    else
      there->body.workers->send(to, what, nullptr);
  });
  return {};
}

void simulated_host::ping(ipc::process_life who, uint64_t number) {
  auto* x = find(who);
  if (x == nullptr || !x->is_up)
    return;
  x->in.post([weak = weak_from_this(), who, number] {
    const auto self = weak.lock();
    auto* there = self ? self->find(who) : nullptr;
    if (there != nullptr && there->is_up && !there->hung)
      there->out.post([sign = self->config_.sign, who, number] {
        sign({who, number});
      });
  });
}

void simulated_host::ask_to_leave(ipc::process_life who) {
  auto* x = find(who);
  if (x != nullptr && !x->hung && !x->script.ignores_leave)
    end(*x, "left", actors::death::outside);
}

void simulated_host::kill(ipc::process_life who) {
  if (auto* x = find(who))
    end(*x, "killed", actors::death::watchdog);
}

void simulated_host::crash(core::process_id which, actors::death cause) {
  if (auto* x = up(which)) {
    end_actors(*x);
    end(*x, "crashed", cause);
  }
}

void simulated_host::hang(core::process_id which) {
  auto* x = up(which);
  if (x == nullptr || x->hung)
    return;
  x->hung = true;
  for (const auto& device : x->body.devices)
    device->hang();
}

void simulated_host::wake(core::process_id which) {
  auto* x = up(which);
  if (x == nullptr || !x->hung)
    return;
  x->hung = false;
  for (const auto& device : x->body.devices)
    device->wake();
  for (auto& [to, what] : std::exchange(x->unread, {}))
    x->body.workers->send(to, std::move(what), nullptr);
}

void simulated_host::fail_step(core::ticket who, uint32_t step,
                               const core::error& why) {
  for (const auto& [which, x] : lives_)
    for (const auto& device : x->body.devices)
      device->fail_step(who, step, why);
}

const process_body* simulated_host::body(core::process_id which) const {
  const auto i = lives_.find(which);
  return i != lives_.end() && i->second->is_up ? &i->second->body : nullptr;
}

void simulated_host::end_actors(life& x) {
  x.is_up = false;
  x.in.cut();
  x.unread.clear();
  for (const auto& device : x.body.devices)
    device->crash();
  for (const auto& actor : x.body.actors)
    caf::anon_send_exit(actor, caf::exit_reason::kill);
  x.body.workers->clear();
  x.body.actors.clear();
}

void simulated_host::end(life& x, std::string how, actors::death cause) {
  if (!x.ending.empty())
    return;
  x.ending = std::move(how);
  x.cause = cause;
  if (!x.started)
    return;
  if (!x.script.ignores_kill)
    end_actors(x);
  exit_later(x);
}

void simulated_host::exit_later(life& x) {
  config_.timers->after(x.script.exit_delay,
                        [weak = weak_from_this(), who = x.process] {
                          const auto self = weak.lock();
                          auto* gone = self ? self->find(who) : nullptr;
                          if (gone == nullptr)
                            return;
                          self->end_actors(*gone);
                          gone->out.after_all({}, [weak, who] {
                            const auto host = weak.lock();
                            auto* over = host ? host->find(who) : nullptr;
                            if (over == nullptr)
                              return;
                            process_exited told{who, over->ending, over->cause};
                            host->lives_.erase(who.process);
                            host->exited_(std::move(told));
                          });
                        });
}

void simulated_host::clear() {
  for (const auto& [which, x] : lives_)
    end_actors(*x);
  lives_.clear();
}

} // namespace atelier::runtime
