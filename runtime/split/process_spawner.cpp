// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/runtime/split/process_spawner.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

extern char** environ;

namespace atelier::runtime {

namespace {

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

process_spawner::process_spawner(options how)
  : how_(std::move(how)), wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

process_spawner::~process_spawner() {
  end({});
  if (wake_fd_ >= 0)
    close(wake_fd_);
}

void process_spawner::end(core::timespan grace) {
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
    kill_at_ = core::after(std::chrono::steady_clock::now(), grace);
    orders_.clear();
  }
  wake();
  if (thread_.joinable())
    thread_.join();
  // Links join their threads here, which may still be reporting an end.
  std::map<ipc::process_life, std::shared_ptr<child>> children;
  std::vector<std::shared_ptr<child>> ended;
  {
    const std::lock_guard guard{mutex_};
    children.swap(children_);
    ended.swap(ended_);
  }
  children.clear();
  ended.clear();
}

void process_spawner::connect(
  std::function<void(actors::process_started)> started,
  std::function<void(actors::process_exited)> exited) {
  started_ = std::move(started);
  exited_ = std::move(exited);
  thread_ = std::jthread{[this] { loop(); }};
}

void process_spawner::wake() {
  const uint64_t one = 1;
  // Full means that a wake-up is pending already.
  [[maybe_unused]] const auto written = write(wake_fd_, &one, sizeof one);
}

// -- calls from any thread ----------------------------------------------------

void process_spawner::start(ipc::process_life who, std::string part) {
  {
    const std::lock_guard guard{mutex_};
    if (stopping_)
      return;
    orders_.push_back({who, std::move(part)});
  }
  wake();
}

void process_spawner::send(ipc::process_life to, const actors::to_process& x) {
  std::shared_ptr<child> c;
  {
    const std::lock_guard guard{mutex_};
    if (const auto i = children_.find(to); i != children_.end())
      c = i->second;
  }
  if (c)
    c->link->send(x);
}

void process_spawner::send(const actors::worker_address& to,
                           actors::work what) {
  actors::to_process x;
  x.role = to.role;
  x.index = to.index;
  std::visit([&](auto& body) { x.body = std::move(body); }, what);
  send(to.process, x);
}

void process_spawner::rouse() {
  const std::lock_guard guard{mutex_};
  for (const auto& [who, c] : children_)
    if (!c->gone)
      c->link->rouse();
}

void process_spawner::ping(ipc::process_life who, uint64_t number) {
  send(who, actors::to_process{{}, 0, actors::ping{number}});
}

void process_spawner::ask_to_leave(ipc::process_life who) {
  send(who, actors::to_process{{}, 0, actors::leave{}});
}

void process_spawner::kill(ipc::process_life who) {
  const std::lock_guard guard{mutex_};
  const auto i = children_.find(who);
  if (i == children_.end() || i->second->pidfd < 0 || i->second->gone)
    return;
  i->second->killed = true;
  syscall(SYS_pidfd_send_signal, i->second->pidfd, SIGKILL, nullptr, 0);
}

// -- the thread ---------------------------------------------------------------

void process_spawner::spawn(const order& x) {
  auto c = std::make_shared<child>();
  actors::process_started news;
  news.process = x.process;
  const auto rings = how_.host->begin_life(x.process.process);
  if (!rings) {
    news.failure = rings.why();
    return started_(std::move(news));
  }
  ring_link::events calls;
  const auto who = x.process;
  calls.arrived = [this, who](actors::from_process message) {
    how_.arrived(who, std::move(message));
  };
  calls.broken = [this, who](const core::error& why) {
    core::log_error("process {} writes nonsense and is killed: {}",
                    who.process.value, core::to_string(why));
    kill(who);
  };
  calls.ended = [this, who] { forget(who); };
  c->link = std::make_unique<ring_link>(
    *rings, ipc::ring_life{how_.host->host_epoch(), who.life},
    std::move(calls));
  c->link->send(actors::to_process{
    {}, 0, actors::setup{x.part, how_.settings, how_.stages}});

  const auto process = fmt::format("--process={}", who.process.value);
  const auto life = fmt::format("--life={}", who.life.value);
  const auto parent = fmt::format("--parent={}", getpid());
  const char* arguments[] = {how_.program.c_str(), process.c_str(),
                             life.c_str(), parent.c_str(), nullptr};
  // Signals meant for the host are not for the children; and a terminal's
  // Ctrl-C must not end them before the host has cancelled its work.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  // A child gets only the arena and the standard error among the host's
  // descriptors: another open one would keep a pipe or a port open.
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, how_.host->descriptor(),
                                   ipc::inherited_arena);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY,
                                   0);
  posix_spawn_file_actions_addclosefrom_np(&files, ipc::inherited_arena + 1);
  pid_t pid = 0;
  const auto failed =
    posix_spawn(&pid, how_.program.c_str(), &files, &attributes,
                const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed == 0) {
    c->pid = pid;
    c->pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    const auto cause = errno;
    news.pid = pid;
    {
      const std::lock_guard guard{mutex_};
      children_[who] = c;
    }
    if (c->pidfd < 0) {
      if (cause == ESRCH) {
        // A host that ignores SIGCHLD has no trace of it, and its pid may have
        // been reused.
        news.failure =
          core::fail(core::ec::unavailable, "process {} ended at once", pid);
      } else {
        // Without a descriptor no end could be confirmed: end it now, and wait
        // here.
        news.failure = core::fail(core::ec::out_of_resources,
                                  "no descriptor for process {}: {}", pid,
                                  std::strerror(cause));
        ::kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
      }
      const std::lock_guard guard{mutex_};
      children_.erase(who);
    }
  } else {
    news.failure = core::fail(core::ec::unavailable, "{} cannot be started: {}",
                              how_.program, std::strerror(failed));
  }
  started_(std::move(news));
}

actors::death process_spawner::cause_of(const siginfo_t& info, bool killed) {
  using actors::death;
  const bool memory = memory_.more();
  // It may have crashed before it was killed; either counts.
  if (killed)
    return death::watchdog;
  if (info.si_code == CLD_EXITED || is_own_fault(info.si_status))
    return death::crash;
  return info.si_status == SIGKILL && memory ? death::memory : death::outside;
}

void process_spawner::reap(ipc::process_life who) {
  std::shared_ptr<child> c;
  {
    const std::lock_guard guard{mutex_};
    c = children_.at(who);
  }
  siginfo_t info{};
  const auto waited =
    waitid(P_PID, static_cast<id_t>(c->pid), &info, WEXITED | WNOHANG);
  // A host that ignores SIGCHLD has nothing to wait for: the process is gone in
  // either case.
  const bool unknown = waited != 0 && errno == ECHILD;
  if (!unknown && (waited != 0 || info.si_pid == 0))
    return;
  {
    const std::lock_guard guard{mutex_};
    c->gone = true;
    c->end = unknown ? "unknown end" : describe_end(info);
    c->cause = unknown && !c->killed ? actors::death::outside
                                     : cause_of(info, c->killed);
    close(c->pidfd);
    c->pidfd = -1;
  }
  c->link->finish();
}

void process_spawner::forget(ipc::process_life who) {
  // Runs on the link's own thread: the spawner's thread ends the link.
  actors::process_exited news;
  news.process = who;
  {
    const std::lock_guard guard{mutex_};
    const auto i = children_.find(who);
    if (i == children_.end())
      return;
    news.manner = i->second->end;
    news.cause = i->second->cause;
    ended_.push_back(std::move(i->second));
    children_.erase(i);
  }
  exited_(std::move(news));
  wake();
}

void process_spawner::loop() {
  for (;;) {
    std::vector<order> orders;
    std::vector<std::shared_ptr<child>> ended;
    std::vector<pollfd> fds{{wake_fd_, POLLIN, 0}};
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
    ended.clear();
    for (const auto& x : orders)
      spawn(x);
    {
      const std::lock_guard guard{mutex_};
      for (const auto& [who, c] : children_) {
        if (c->gone)
          continue;
        fds.push_back({c->pidfd, POLLIN, 0});
        whose.push_back(who);
        // Another request to leave may have come before the process was
        // started.
        if (stopping && !std::exchange(c->told_to_leave, true))
          c->link->send(actors::to_process{{}, 0, actors::leave{}});
      }
    }
    if (stopping && fds.size() == 1)
      return;
    int patience_ms = -1;
    if (stopping) {
      const auto left = kill_at - std::chrono::steady_clock::now();
      if (left <= core::timespan{0})
        for (size_t i = 1; i < whose.size(); ++i)
          kill(whose[i]);
      else
        patience_ms = static_cast<int>(std::min<int64_t>(
          1
            + std::chrono::duration_cast<std::chrono::milliseconds>(left)
                .count(),
          60'000));
    }
    poll(fds.data(), fds.size(), patience_ms);
    uint64_t count = 0;
    [[maybe_unused]] const auto got = read(wake_fd_, &count, sizeof count);
    for (size_t i = 1; i < fds.size(); ++i)
      if (fds[i].revents != 0)
        reap(whose[i]);
  }
}

} // namespace atelier::runtime
