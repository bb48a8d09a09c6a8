// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/own_thread.hpp>

#include <csignal>
#include <latch>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace atelier::runtime {

namespace {

/// Blocks signals in the calling thread, except those that report its own
/// faults: while these are blocked, a fault ends the process without a handler.
class signals_blocked {
public:
  signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault :
         {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
      sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }

  ~signals_blocked() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

private:
  sigset_t before_;
};

std::jthread start_thread(std::function<void()> run) {
  const signals_blocked inherited;
  return std::jthread{std::move(run)};
}

} // namespace

core::result<void> on_own_thread(
  const std::function<core::result<void>()>& work) {
  core::result<void> done;
  const auto guarded = [&] {
    try {
      done = work();
    } catch (...) {
      done = error_of_exception();
    }
  };
  try {
    start_thread(guarded).join();
  } catch (...) {
    return error_of_exception();
  }
  return done;
}

core::result<void> check_threads(size_t count) {
  std::latch over{1};
  std::vector<std::jthread> all;
  try {
    // A thread that does not fit would be waited for before it is let go.
    all.reserve(count);
    while (all.size() < count)
      all.push_back(start_thread([&] { over.wait(); }));
  } catch (const std::exception& x) {
    over.count_down();
    return core::fail(core::ec::out_of_resources,
                      "only {} of {} threads can start: {}", all.size(), count,
                      x.what());
  }
  over.count_down();
  return {};
}

core::error error_of_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return core::fail(core::ec::out_of_resources, "no memory is left");
  } catch (const std::system_error& x) {
    const bool ran_out = x.code() == std::errc::resource_unavailable_try_again;
    return core::fail(ran_out ? core::ec::out_of_resources : core::ec::internal,
                      "{}{}", ran_out ? "a thread cannot start: " : "",
                      x.what());
  } catch (const std::exception& x) {
    return core::fail(core::ec::internal, "{}", x.what());
  } catch (...) {
    return core::fail(core::ec::internal,
                      "an exception that is not a std::exception");
  }
}

} // namespace atelier::runtime
