// SPDX-License-Identifier: Apache-2.0

// The thread of callbacks, which calls the clients.

#include <atelier/core/log.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/runtime/completions.hpp>

#include <cxxabi.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <utility>
#include <variant>

namespace atelier::runtime {

namespace {

/// A host's callback may throw; its exception ends here, unless it is the end
/// of the thread, which nothing may hold up.
template <class F, class... Ts>
void call(const F& f, const Ts&... xs) {
  if (!f)
    return;
  try {
    f(xs...);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& e) {
    core::log_error("a callback of the host threw: {}", e.what());
  } catch (...) {
    core::log_error("a callback of the host threw");
  }
}

/// Adds the preview of a published state, if it is still there: the publisher
/// does not wait.
void add_preview(const ipc::slot_store& slots, const ipc::slot_ref& from,
                 progress& to) {
  std::vector<std::byte> bytes;
  if (!slots.read(from, bytes))
    return;
  const auto state = gpu::parse_state(bytes);
  if (!state || state->preview.rgb.empty())
    return;
  to.preview.step = state->head.steps_done;
  to.preview.width = state->preview.px.width;
  to.preview.height = state->preview.px.height;
  to.preview.rgb.assign(state->preview.rgb.begin(), state->preview.rgb.end());
}

/// Gives a client's future its answer, which is moved there if nobody else
/// reads it; at the latest at the end of its scope, as a callback may end the
/// thread.
class fulfilment {
public:
  fulfilment(std::promise<answer>& result, answer& last, bool may_move)
    : result_(&result), last_(last), may_move_(may_move) {}

  fulfilment(const fulfilment&) = delete;
  fulfilment& operator=(const fulfilment&) = delete;

  ~fulfilment() {
    now();
  }

  void now() {
    auto* const to = std::exchange(result_, nullptr);
    if (to == nullptr)
      return;
    try {
      if (may_move_)
        to->set_value(std::move(last_));
      else
        to->set_value(last_);
    } catch (const std::bad_alloc&) {
      to->set_value(
        failure{"out_of_resources",
                "no memory is left for a copy of the answer",
                {},
                std::visit([](const auto& x) { return x.request; }, last_)});
    }
  }

private:
  std::promise<answer>* result_;
  answer& last_;
  bool may_move_;
};

} // namespace

/// Counts a client's call as ended at the end of its scope.
class completions::call_in_progress {
public:
  /// @pre the mutex is held
  explicit call_in_progress(completions& of) : of_(of) {
    of_.calling_ = true;
  }

  call_in_progress(const call_in_progress&) = delete;
  call_in_progress& operator=(const call_in_progress&) = delete;

  ~call_in_progress() {
    const std::lock_guard guard{of_.mutex_};
    of_.calling_ = false;
    of_.changed_.notify_all();
  }

private:
  completions& of_;
};

/// A trial's turn to begin, which comes when the client says so or has dropped
/// the function that says it.
class completions::turn {
public:
  turn(std::weak_ptr<completions> of, uint64_t request)
    : of_(std::move(of)), request_(request) {}

  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

  ~turn() {
    take();
  }

  void take() {
    if (taken_.exchange(true))
      return;
    if (const auto x = of_.lock())
      x->noted(request_);
  }

private:
  const std::weak_ptr<completions> of_;
  const uint64_t request_;
  std::atomic<bool> taken_{false};
};

/// Replaces the callback thread, unless it ends by itself.
class completions::substitute {
public:
  explicit substitute(completions& of) : of_(&of) {}

  substitute(const substitute&) = delete;
  substitute& operator=(const substitute&) = delete;

  ~substitute() {
    if (of_ != nullptr)
      of_->replace_thread();
  }

  void dismiss() {
    of_ = nullptr;
  }

private:
  completions* of_;
};

void completions::tell(const callbacks& calls, step_seen x) {
  std::shared_ptr<ipc::slot_store> slots;
  if (x.state) {
    const std::lock_guard guard{mutex_};
    slots = slots_;
  }
  try {
    if (slots)
      add_preview(*slots, x.state, x.at);
  } catch (const std::exception& e) {
    core::log_warn("the preview of request {} is left out: {}", x.at.request,
                   e.what());
    x.at.preview = {};
  }
  call(calls.progressed, x.at);
}

void completions::tell(const callbacks& calls, const held_against& x) {
  std::function<void()> go_on = [] {};
  if (x.waits)
    go_on = [next = std::make_shared<turn>(
               weak_from_this(), x.details.request)] { next->take(); };
  call(calls.suspected, x.details, go_on);
}

void completions::loop() {
  {
    const std::lock_guard guard{mutex_};
    caller_ = std::this_thread::get_id();
  }
  substitute if_ended{*this};
  std::shared_ptr<completions> last_holder;
  do {
    if (auto owner = take_owner(); owner && !end_elsewhere(owner)) {
      last_holder = shared_from_this();
      owner.reset();
    }
  } while (step(core::never));
  if_ended.dismiss();
  // The destructor finds the callback thread by it.
  if (last_holder)
    return;
  const std::lock_guard guard{mutex_};
  caller_ = {};
}

std::unique_ptr<completions_owner> completions::take_owner() {
  const std::lock_guard guard{mutex_};
  return std::move(owner_);
}

bool completions::end_elsewhere(std::unique_ptr<completions_owner>& owner) {
  try {
    std::thread{[last_holder = shared_from_this(), x = owner.get()] {
      const std::unique_ptr<completions_owner> ends{x};
    }}.detach();
  } catch (const std::exception& e) {
    core::log_warn("the engine ends on the thread of the callbacks: {}",
                   e.what());
    return false;
  }
  [[maybe_unused]] const auto* its_own = owner.release();
  return true;
}

void completions::replace_thread() noexcept {
  try {
    core::log_error("a callback of the host ended the engine's thread, which "
                    "another one replaces");
    const std::lock_guard guard{mutex_};
    caller_ = {};
    if (thread_.joinable())
      ended_.push_back(std::move(thread_));
    thread_ = std::thread{[this] { loop(); }};
  } catch (const std::exception& e) {
    core::log_error("no other thread replaces it: {}", e.what());
  }
}

bool completions::step(core::time_point until) {
  std::unique_lock guard{mutex_};
  const auto has_ended = [&] { return closed_ && by_request_.empty(); };
  wake_.wait_until(guard, until, [&] {
    return has_ended() || !answered_.empty() || !with_news_.empty();
  });
  if (!answered_.empty())
    deliver_answer(guard);
  else if (!with_news_.empty())
    deliver_news(guard);
  else
    return false;
  return true;
}

void completions::deliver_answer(std::unique_lock<std::mutex>& guard) {
  // A client that has its answer may submit the next request at once.
  clients own;
  auto& x = answered_.front();
  by_request_.erase(x.request);
  entered_.remove(x.whose, 1);
  own.splice(own.end(), answered_, answered_.begin());
  const auto now = std::chrono::steady_clock::now();
  if (last_answer_ != core::time_point{})
    seconds_per_answer_ +=
      (core::to_seconds(now - last_answer_) - seconds_per_answer_) / 16;
  last_answer_ = now;
  auto seen = closed_ ? std::nullopt : std::exchange(x.seen, std::nullopt);
  const call_in_progress until_end{*this};
  guard.unlock();
  // The captures end before the call does.
  const clients ends_first = std::move(own);
  fulfilment to_future{x.result, *x.last, !x.calls.answered};
  if (seen)
    tell(x.calls, std::move(*seen));
  to_future.now();
  call(x.calls.answered, *x.last);
}

void completions::deliver_news(std::unique_lock<std::mutex>& guard) {
  // Only this thread removes a client that the scheduler knows.
  auto& x = with_news_.front();
  const auto held = std::exchange(x.held, std::nullopt);
  std::optional<step_seen> seen;
  if (!held)
    seen = std::exchange(x.seen, std::nullopt);
  move_to(x.seen ? with_news_ : quiet_, x);
  const call_in_progress until_end{*this};
  guard.unlock();
  if (held)
    tell(x.calls, *held);
  else
    tell(x.calls, std::move(*seen));
}

} // namespace atelier::runtime
