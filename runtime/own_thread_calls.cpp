// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/own_thread_calls.hpp>

#include <fmt/format.h>

#include <cxxabi.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace atelier::runtime {

struct own_thread_calls::state {
  std::mutex mutex;
  std::condition_variable changed;
  /// The mutex guards all members below.
  bool abandoned = false;
  bool running = false;
  /// Why the last work failed; empty: it did not.
  std::string failure;
};

namespace {

/// Returns why `work` failed; empty if it did not.
std::string failure_of(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

} // namespace

own_thread_calls::own_thread_calls() : state_(std::make_shared<state>()) {}

void own_thread_calls::run(std::function<void()> work,
                           core::timespan patience) {
  // Sets the outcome at its end, however the thread ends.
  struct outcome {
    explicit outcome(std::shared_ptr<state> x) : of(std::move(x)) {}

    outcome(const outcome&) = delete;
    outcome& operator=(const outcome&) = delete;

    ~outcome() {
      const std::lock_guard guard{of->mutex};
      of->running = false;
      of->failure = std::move(failure);
      of->changed.notify_all();
    }

    const std::shared_ptr<state> of;
    std::string failure = "it ended its thread";
  };

  auto& x = *state_;
  const auto until = core::after(std::chrono::steady_clock::now(), patience);
  std::unique_lock guard{x.mutex};
  if (x.abandoned)
    throw std::runtime_error{"the engine ends"};
  if (x.running)
    throw std::runtime_error{"its last call has not returned yet"};
  std::thread{[of = state_, work = std::move(work)]() mutable {
    outcome out{of};
    out.failure = failure_of(work);
    work = nullptr;
  }}.detach();
  x.running = true;
  x.changed.wait_until(guard, until, [&] { return !x.running || x.abandoned; });
  if (!x.running && x.failure.empty())
    return;
  if (!x.running)
    throw std::runtime_error{x.failure};
  if (x.abandoned)
    throw std::runtime_error{"the engine ends"};
  throw std::runtime_error{fmt::format("it has not returned after {:.0f} s",
                                       core::to_seconds(patience))};
}

void own_thread_calls::abandon() {
  const std::lock_guard guard{state_->mutex};
  state_->abandoned = true;
  state_->changed.notify_all();
}

} // namespace atelier::runtime
