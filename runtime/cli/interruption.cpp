// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/exit_status.hpp>
#include <atelier/runtime/cli/interruption.hpp>

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>

namespace atelier::runtime::cli {

namespace {

// A handler reaches nothing but statics.
std::atomic<int> wishes = 0;
std::atomic<int> hung_up = 0;
std::unique_ptr<wakeup> woken;

static_assert(std::atomic<int>::is_always_lock_free,
              "a signal handler may not wait for a lock");

extern "C" void on_wish_to_stop(int) {
  if (++wishes >= 3)
    _exit(static_cast<int>(exit_status::interrupted));
  woken->wake();
}

extern "C" void on_hangup(int) {
  ++hung_up;
  woken->wake();
}

extern "C" void on_failed_write(int) {}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};

  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

} // namespace

signal_interruption::signal_interruption() {
  wishes = 0;
  hung_up = 0;
  woken = std::make_unique<wakeup>();
  handle(SIGINT, on_wish_to_stop);
  handle(SIGTERM, on_wish_to_stop);
  handle(SIGPIPE, on_failed_write);
  handle(SIGXFSZ, on_failed_write);
}

signal_interruption::~signal_interruption() {
  for (int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ})
    handle(number, SIG_DFL);
  if (hears_hangups_)
    handle(SIGHUP, SIG_DFL);
  woken.reset();
}

int signal_interruption::count() const {
  return wishes;
}

bool signal_interruption::hear_hangups() {
  struct sigaction before {};

  sigaction(SIGHUP, nullptr, &before);
  handle(SIGHUP, on_hangup);
  hears_hangups_ = true;
  return before.sa_handler == SIG_IGN;
}

int signal_interruption::hangups() const {
  return hung_up;
}

wakeup& signal_interruption::signal() {
  return *woken;
}

} // namespace atelier::runtime::cli
