// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/eventually.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace atelier::test {

/// Runs a function in its own process, which the destructor kills.
class child_process {
public:
  child_process() = default;

  template <class F>
  explicit child_process(F f) {
    auto parent = getpid();
    pid_ = fork();
    if (pid_ != 0)
      return;
    die_with(parent);
    f();
    _exit(0);
  }

  child_process(child_process&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)) {}

  child_process& operator=(child_process&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }

  ~child_process() {
    if (pid_ > 0) {
      signal(SIGKILL);
      wait();
    }
  }

  /// Asks the kernel to kill this process when its parent dies.
  static void die_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
  }

  pid_t pid() const {
    return pid_;
  }

  void signal(int number) const {
    ::kill(pid_, number);
  }

  /// Waits for the end; returns the exit status, or -1 for a killed process.
  int wait() {
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Returns whether the process ended by itself or by a signal, and reaps it.
  bool ended() {
    if (pid_ == 0 || waitpid(pid_, nullptr, WNOHANG) == 0)
      return pid_ == 0;
    pid_ = 0;
    return true;
  }

private:
  pid_t pid_ = 0;
};

} // namespace atelier::test
