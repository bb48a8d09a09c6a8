// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/runtime/own_thread.hpp>
#include <atelier/runtime/split/above_streams.hpp>
#include <atelier/runtime/split/exit_status.hpp>
#include <atelier/runtime/split/process_spawner.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace atelier::runtime {

namespace {

/// P_PIDFD, which older headers lack.
constexpr auto by_pidfd = static_cast<idtype_t>(3);

/// How often the thread looks at what it cannot wait for.
constexpr core::timespan look_again = std::chrono::milliseconds{50};
/// The thread looks this often in any case, in case the host closed the
/// descriptor that wakes it.
constexpr core::timespan look_up = std::chrono::seconds{1};

/// Returns the time-out of a poll that ends at `then`.
int poll_until(core::time_point then) {
  const auto left = then - std::chrono::steady_clock::now();
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<int64_t>(ms, 0, 60'000));
}

core::descriptor open_pidfd(int32_t pid) {
  return above_streams(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

std::string describe_end(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED)
    return fmt::format("exit status {}", info.si_status);
  return fmt::format("signal {} ({})", info.si_status,
                     strsignal(info.si_status));
}

/// Whether a signal is caused by the process itself.
bool is_own_fault(int signal) {
  switch (signal) {
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGSEGV:
    case SIGSYS:
    case SIGTRAP:
    case SIGXCPU:
    case SIGXFSZ:
      return true;
    default:
      return false;
  }
}

} // namespace

process_spawner::process_spawner(options how, worker_program program,
                                 core::descriptor wakes)
  : how_(std::move(how)),
    program_(std::move(program)),
    wakes_(std::move(wakes)) {}

core::result<std::unique_ptr<process_spawner>> process_spawner::make(
  options how) {
  auto program = worker_program::make(how.program, how.host->descriptor());
  if (!program)
    return program.why();
  auto wakes = above_streams(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakes)
    return core::fail(core::ec::out_of_resources,
                      "no descriptor for the start of other processes: {}",
                      std::strerror(errno));
  return std::unique_ptr<process_spawner>{
    new process_spawner(std::move(how), std::move(*program), std::move(wakes))};
}

process_spawner::~process_spawner() {
  end({});
  if (deaf_)
    wakes_.release();
}

void process_spawner::end(core::timespan grace) {
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
    kill_at_ = core::after(std::chrono::steady_clock::now(), grace);
    orders_.clear();
    expected_.clear();
  }
  wake();
  if (thread_.joinable())
    thread_.join();
  std::map<ipc::process_life, std::shared_ptr<child>> children;
  std::vector<std::shared_ptr<child>> ended;
  {
    const std::lock_guard guard{mutex_};
    children.swap(children_);
    ended.swap(ended_);
  }
  // Their threads may still be reporting an end, or sending: the last owner of
  // a link may be one of them.
  for (const auto& [who, c] : children)
    c->link->stop();
  for (const auto& c : ended)
    c->link->stop();
}

void process_spawner::connect(
  std::function<void(actors::process_started)> started,
  std::function<void(actors::process_exited)> exited) {
  started_ = std::move(started);
  exited_ = std::move(exited);
  thread_ = std::jthread{[this] { loop(); }};
}

void process_spawner::wake() {
  if (deaf_)
    return;
  const uint64_t one = 1;
  // Full means that a wake-up is pending already.
  [[maybe_unused]] const auto written =
    write(wakes_.number(), &one, sizeof one);
}

// -- calls from any thread ----------------------------------------------------

void process_spawner::start(ipc::process_life who, std::string part,
                            bool bare) {
  {
    const std::lock_guard guard{mutex_};
    if (stopping_)
      return;
    orders_.push_back({who, std::move(part), bare});
    expected_.emplace(who, false);
  }
  wake();
}

core::result<void> process_spawner::send(ipc::process_life to,
                                         const actors::to_process& x) {
  std::shared_ptr<child> c;
  {
    const std::lock_guard guard{mutex_};
    if (const auto i = children_.find(to); i != children_.end())
      c = i->second;
  }
  if (!c)
    return {};
  c->check.asked(x);
  return c->link->send(x);
}

void process_spawner::tell(ipc::process_life to, const actors::to_process& x) {
  if (auto sent = send(to, x); !sent)
    core::log_error("process {}: {}", to.process.value,
                    core::to_string(sent.why()));
}

core::result<void> process_spawner::send(const actors::worker_address& to,
                                         actors::work what) {
  actors::to_process x;
  x.role = to.role;
  x.index = to.index;
  std::visit([&](auto& body) { x.body = std::move(body); }, what);
  return send(to.process, x);
}

uint64_t process_spawner::dropped_reports() const {
  return dropped_;
}

void process_spawner::rouse() {
  const std::lock_guard guard{mutex_};
  for (const auto& [who, c] : children_)
    if (!c->gone)
      c->link->rouse();
}

void process_spawner::ping(ipc::process_life who, uint64_t number) {
  tell(who, actors::to_process{{}, 0, actors::ping{number}});
}

void process_spawner::ask_to_leave(ipc::process_life who) {
  {
    const std::lock_guard guard{mutex_};
    if (const auto i = children_.find(who); i != children_.end())
      i->second->told_to_leave = true;
  }
  tell(who, actors::to_process{{}, 0, actors::leave{}});
}

void process_spawner::kill(ipc::process_life who) {
  const std::lock_guard guard{mutex_};
  if (const auto i = expected_.find(who); i != expected_.end())
    i->second = true;
  const auto i = children_.find(who);
  if (i == children_.end() || i->second->gone)
    return;
  auto& c = *i->second;
  c.killed = true;
  // The pid of a process without a trace may be another's by now.
  siginfo_t info{};
  if (ask_for_end(c, WEXITED | WNOHANG | WNOWAIT, info) != ECHILD)
    syscall(SYS_pidfd_send_signal, c.pidfd.number(), SIGKILL, nullptr, 0);
}

// -- the thread ---------------------------------------------------------------

void process_spawner::hear(child& c, ipc::process_life who,
                           actors::from_process message) {
  if (c.check.accepts(message))
    return how_.arrived(who, std::move(message));
  // One line for all that a broken process writes.
  if (dropped_++ == 0)
    core::log_error("process {} reports what is not its own; such reports are "
                    "dropped (atelier_reports_dropped_total)",
                    who.process.value);
}

core::result<void> process_spawner::bear(child& c, const order& x) {
  const auto who = x.process;
  const auto rings = how_.host->begin_life(who.process);
  if (!rings)
    return rings.why();
  ring_link::events calls;
  calls.arrived = [this, who, &c](actors::from_process message) {
    hear(c, who, std::move(message));
  };
  calls.broken = [this, who](const core::error& why) {
    core::log_error("process {} writes nonsense and is killed: {}",
                    who.process.value, core::to_string(why));
    kill(who);
  };
  calls.ended = [this, who] { forget(who); };
  c.link = std::make_unique<ring_link>(
    *rings, ipc::ring_life{how_.host->host_epoch(), who.life},
    std::move(calls));
  auto sent = c.link->send(actors::to_process{
    {},
    0,
    actors::setup{x.part, how_.settings, how_.stages, x.bare, how_.digests}});
  if (!sent)
    return sent;
  const auto pid = program_.start(who);
  if (!pid)
    return pid.why();
  c.pid = *pid;
  c.pidfd = open_pidfd(c.pid);
  if (c.pidfd)
    return {};
  const auto why = errno;
  // A host that ignores SIGCHLD has no trace of it, and its pid may have been
  // reused.
  if (why == ESRCH)
    return core::fail(core::ec::unavailable, "process {} ended at once", c.pid);
  // Without a descriptor no end could be confirmed: end it now, and wait here,
  // before anything that may throw.
  ::kill(c.pid, SIGKILL);
  waitpid(c.pid, nullptr, 0);
  return core::fail(core::ec::out_of_resources,
                    "no descriptor for process {}: {}", c.pid,
                    std::strerror(why));
}

void process_spawner::spawn(const order& x) {
  actors::process_started news;
  news.process = x.process;
  // A node of the map is made before the process is: from then on nothing
  // throws.
  std::map<ipc::process_life, std::shared_ptr<child>> born;
  try {
    auto& c = born[x.process];
    c = std::make_shared<child>(x.process);
    if (auto done = bear(*c, x); !done)
      news.failure = done.why();
    news.pid = c->pid;
  } catch (...) {
    news.failure = error_of_exception();
  }
  bool unwanted = false;
  {
    const std::lock_guard guard{mutex_};
    if (const auto wish = expected_.extract(x.process); !wish.empty())
      unwanted = wish.mapped();
    if (news.failure.code == core::ec::none)
      children_.merge(born);
  }
  if (unwanted)
    kill(x.process);
  started_(std::move(news));
}

actors::death process_spawner::cause_of(const child& c, const siginfo_t* info,
                                        const std::string& group) {
  using actors::death;
  const bool memory = memory_.more(group);
  // It may have crashed before it was killed; either counts.
  if (c.killed)
    return death::watchdog;
  // The host took the status. If a crash counted as a kill from outside, a
  // request could crash its process for ever; a wrong suspicion costs a trial.
  if (info == nullptr && c.told_to_leave)
    return death::outside;
  if (info == nullptr)
    return memory ? death::memory : death::crash;
  if (info->si_code == CLD_EXITED)
    return c.told_to_leave && info->si_status == exit_status::done
           ? death::outside
           : death::crash;
  if (is_own_fault(info->si_status))
    return death::crash;
  return info->si_status == SIGKILL && memory ? death::memory : death::outside;
}

void process_spawner::note_closed() {
  if (!std::exchange(told_closed_, true))
    core::log_error("the host closed descriptors of the engine; restart it: "
                    "its processes may not start again");
}

int process_spawner::ask_for_end(child& c, int how, siginfo_t& info) {
  const auto ask = [&] {
    const auto id = static_cast<id_t>(c.pidfd.number());
    return waitid(by_pidfd, id, &info, how) == 0 ? 0 : errno;
  };
  if (c.pidfd)
    if (const auto failed = ask(); failed != EBADF)
      return failed;
  note_closed();
  // Its number may have another use by now.
  c.pidfd.release();
  c.pidfd = open_pidfd(c.pid);
  if (c.pidfd)
    return ask();
  return errno == ESRCH ? ECHILD : errno;
}

void process_spawner::take_wake_ups(int16_t seen) {
  if (seen == 0)
    return;
  uint64_t count = 0;
  const auto got = read(wakes_.number(), &count, sizeof count);
  if (got == sizeof count || (got < 0 && (errno == EAGAIN || errno == EINTR)))
    return;
  deaf_ = true;
  const std::lock_guard guard{mutex_};
  note_closed();
}

void process_spawner::reap(ipc::process_life who, int16_t seen) {
  std::shared_ptr<child> c;
  siginfo_t info{};
  {
    const std::lock_guard guard{mutex_};
    c = children_.at(who);
    // It is unknown once the end is collected.
    const auto group = memory_.other_group(c->pid);
    const auto failed = ask_for_end(*c, WEXITED | WNOHANG, info);
    // A host that ignores SIGCHLD or reaps all children leaves nothing to wait
    // for: the process is gone in either case.
    const bool unknown = failed == ECHILD;
    if (!unknown && (failed != 0 || info.si_pid == 0)) {
      // Another descriptor can be waited for.
      c->withheld = seen != POLLNVAL || !c->pidfd;
      return;
    }
    c->gone = true;
    c->end.process = who;
    c->end.manner = unknown ? "unknown end" : describe_end(info);
    c->end.cause = cause_of(*c, unknown ? nullptr : &info, group);
    if (!unknown && info.si_code == CLD_EXITED
        && info.si_status == exit_status::foreign)
      c->fault = core::fail(core::ec::incompatible,
                            "the program {} is of another build: restart the "
                            "server",
                            program_.path());
    c->pidfd = {};
  }
  c->link->finish();
}

void process_spawner::forget(ipc::process_life who) {
  // Runs on the link's own thread: the spawner's thread ends the link.
  actors::process_exited news;
  core::error fault;
  {
    const std::lock_guard guard{mutex_};
    const auto i = children_.find(who);
    if (i == children_.end())
      return;
    news = i->second->end;
    fault = std::move(i->second->fault);
    ended_.push_back(std::move(i->second));
    children_.erase(i);
  }
  if (fault.code != core::ec::none)
    how_.arrived(
      who, actors::from_process{actors::setup_refused{who, std::move(fault)}});
  exited_(std::move(news));
  wake();
}

void process_spawner::leave_behind() {
  const std::lock_guard guard{mutex_};
  for (const auto& [who, c] : children_)
    if (!c->gone)
      core::log_error("process {} (pid {}) is not gone {:.1f} s after it was "
                      "killed; the engine ends without it",
                      who.process.value, c->pid,
                      core::to_seconds(how_.confirm));
}

void process_spawner::loop() {
  for (;;) {
    std::vector<order> orders;
    std::vector<std::shared_ptr<child>> ended;
    std::vector<pollfd> fds{{deaf_ ? -1 : wakes_.number(), POLLIN, 0}};
    std::vector<ipc::process_life> whose{{}};
    bool stopping = false;
    core::time_point kill_at;
    {
      const std::lock_guard guard{mutex_};
      orders.swap(orders_);
      ended.swap(ended_);
      stopping = stopping_;
      kill_at = kill_at_;
    }
    for (const auto& c : ended)
      c->link->stop();
    ended.clear();
    for (const auto& x : orders)
      spawn(x);
    bool unwatched = deaf_;
    {
      const std::lock_guard guard{mutex_};
      for (const auto& [who, c] : children_) {
        if (c->gone)
          continue;
        // The descriptor of a withheld end is ready all the time.
        fds.push_back({c->withheld ? -1 : c->pidfd.number(), POLLIN, 0});
        whose.push_back(who);
        unwatched = unwatched || c->withheld;
        // Another request to leave may have come before the process was
        // started.
        if (stopping && !std::exchange(c->told_to_leave, true))
          static_cast<void>(
            c->link->send(actors::to_process{{}, 0, actors::leave{}}));
      }
    }
    if (stopping && fds.size() == 1)
      return;
    const auto now = std::chrono::steady_clock::now();
    const auto leave_at = core::after(kill_at, how_.confirm);
    if (stopping && now >= leave_at)
      return leave_behind();
    if (stopping && now >= kill_at)
      for (size_t i = 1; i < whose.size(); ++i)
        kill(whose[i]);
    auto until = core::after(now, unwatched ? look_again : look_up);
    if (stopping)
      until = std::min(until, now >= kill_at ? leave_at : kill_at);
    poll(fds.data(), fds.size(), poll_until(until));
    take_wake_ups(fds[0].revents);
    for (size_t i = 1; i < fds.size(); ++i)
      if (fds[i].revents != 0 || fds[i].fd < 0)
        reap(whose[i], fds[i].revents);
  }
}

} // namespace atelier::runtime
