// SPDX-License-Identifier: Apache-2.0

// What other threads ask of the completions; completions_thread.cpp has its own
// thread.

#include <atelier/runtime/completions.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/public_answer.hpp>

#include <chrono>
#include <exception>
#include <limits>
#include <utility>

namespace atelier::runtime {

completions::completions(std::shared_ptr<ipc::slot_store> slots,
                         std::function<void(core::request_id)> taken,
                         std::function<void(core::request_id)> noted,
                         std::shared_ptr<const planning::profile> known)
  : taken_(std::move(taken)),
    noted_(std::move(noted)),
    known_(std::move(known)),
    slots_(std::move(slots)) {
  const std::lock_guard guard{mutex_};
  thread_ = std::thread{[this] { loop(); }};
}

completions::~completions() {
  close();
  // Its owner was destroyed on the callback thread, which ends next.
  if (is_callback_thread())
    thread_.detach();
  join();
}

void completions::close() {
  std::shared_ptr<ipc::slot_store> slots;
  {
    const std::lock_guard guard{mutex_};
    if (std::exchange(closed_, true))
      return;
    slots = std::move(slots_);
    for (auto* from : {&with_news_, &quiet_})
      while (!from->empty()) {
        auto& x = from->front();
        x.last = failure{"stopping", "the engine is stopping", {}, x.request};
        move_to(answered_, x);
      }
    changed_.notify_all();
  }
  wake_.notify_all();
}

void completions::join() {
  for (;;) {
    std::vector<std::thread> all;
    {
      const std::lock_guard guard{mutex_};
      all.swap(ended_);
      if (thread_.joinable())
        all.push_back(std::move(thread_));
    }
    if (all.empty())
      return;
    for (auto& x : all)
      x.join();
  }
}

bool completions::is_callback_thread() const {
  const std::lock_guard guard{mutex_};
  return caller_ == std::this_thread::get_id();
}

void completions::destroy_later(std::unique_ptr<completions_owner> owner) {
  const std::lock_guard guard{mutex_};
  owner_ = std::move(owner);
}

bool completions::knows(core::request_id id) const {
  const std::lock_guard guard{mutex_};
  return by_request_.contains(id.value);
}

std::future<answer> completions::expect(core::request_id id, callbacks calls) {
  return *expect(id, std::move(calls), {}, std::numeric_limits<size_t>::max());
}

std::optional<std::future<answer>> completions::expect(core::request_id id,
                                                       callbacks calls,
                                                       core::tenant_id whose,
                                                       size_t most) {
  clients own;
  auto& x = own.emplace_back();
  x.request = id.value;
  x.whose = whose;
  x.calls = std::move(calls);
  x.in = &quiet_;
  auto result = x.result.get_future();
  const std::lock_guard guard{mutex_};
  if (!entered_.grants(whose, 1, most))
    return std::nullopt;
  by_request_.emplace(id.value, own.begin());
  entered_.add(whose, 1);
  quiet_.splice(quiet_.end(), own);
  return result;
}

void completions::withdraw(core::request_id id) {
  clients own;
  const std::lock_guard guard{mutex_};
  const auto i = by_request_.find(id.value);
  if (i == by_request_.end())
    return;
  own.splice(own.end(), *i->second->in, i->second);
  by_request_.erase(i);
  entered_.remove(own.front().whose, 1);
  changed_.notify_all();
}

bool completions::admits(core::tenant_id whose, size_t most) const {
  const std::lock_guard guard{mutex_};
  return entered_.grants(whose, 1, most);
}

size_t completions::open() const {
  const std::lock_guard guard{mutex_};
  return by_request_.size();
}

double completions::seconds_per_answer() const {
  const std::lock_guard guard{mutex_};
  return seconds_per_answer_;
}

bool completions::is_answered() const {
  return quiet_.empty() && with_news_.empty();
}

bool completions::is_empty() const {
  return by_request_.empty() && !calling_;
}

bool completions::wait(core::timespan most,
                       bool (completions::*reached)() const) {
  const auto until = core::after(std::chrono::steady_clock::now(), most);
  const auto is_reached = [&] { return (this->*reached)(); };
  if (!is_callback_thread()) {
    std::unique_lock guard{mutex_};
    return changed_.wait_until(guard, until, is_reached);
  }
  // Only this thread calls clients.
  for (;;) {
    {
      const std::lock_guard guard{mutex_};
      if (is_reached())
        return true;
    }
    if (!step(until))
      return false;
  }
}

bool completions::wait_until_answered(core::timespan most) {
  return wait(most, &completions::is_answered);
}

bool completions::wait_until_empty(core::timespan most) {
  return wait(most, &completions::is_empty);
}

completions::client* completions::find(uint64_t request) {
  const auto i = by_request_.find(request);
  return i != by_request_.end() && !i->second->last ? &*i->second : nullptr;
}

void completions::move_to(clients& to, client& x) {
  to.splice(to.end(), *x.in, by_request_.at(x.request));
  x.in = &to;
}

void completions::answered(actors::answer what) {
  const auto id = what.request->id;
  std::shared_ptr<ipc::slot_store> slots;
  {
    const std::lock_guard guard{mutex_};
    slots = slots_;
  }
  if (!slots)
    return;
  const bool has_image = what.failure.code == core::ec::none;
  std::optional<answer> last;
  try {
    last = to_public(std::move(what), *slots, known_.get());
  } catch (const std::exception& e) {
    auto why = to_failure(
      core::fail(core::ec::out_of_resources,
                 "the image cannot be passed to its client: {}", e.what()));
    why.request = id.value;
    last = std::move(why);
  }
  const std::lock_guard guard{mutex_};
  // Under the lock: a caller that closes this may end the scheduler after it.
  if (closed_)
    return;
  if (has_image)
    taken_(id);
  auto* const x = find(id.value);
  if (x == nullptr)
    return;
  x->last = std::move(last);
  move_to(answered_, *x);
  wake_.notify_one();
  if (is_answered())
    changed_.notify_all();
}

void completions::progressed(core::request_id id, uint32_t steps_done,
                             uint32_t steps, ipc::slot_ref state) {
  const std::lock_guard guard{mutex_};
  auto* const x = find(id.value);
  if (x == nullptr || !x->calls.progressed)
    return;
  // A preview that was not delivered stays until there is a newer one.
  if (!state && x->seen)
    state = x->seen->state;
  x->seen = step_seen{{id.value, steps_done, steps, {}}, state};
  if (x->in != &with_news_)
    move_to(with_news_, *x);
  wake_.notify_one();
}

void completions::suspected(core::request_id id, core::suspicion how,
                            bool waits) {
  const std::lock_guard guard{mutex_};
  auto* const x = find(id.value);
  if (x == nullptr || !x->calls.suspected) {
    if (waits && !closed_ && noted_)
      noted_(id);
    return;
  }
  x->held = held_against{{std::string{core::to_string(how.phase)}, how.leg,
                          how.steps, how.trials, id.value},
                         waits || (x->held && x->held->waits)};
  if (x->in != &with_news_)
    move_to(with_news_, *x);
  wake_.notify_one();
}

void completions::noted(uint64_t request) {
  // Under the lock: a caller that closes this may end the scheduler after it.
  const std::lock_guard guard{mutex_};
  if (!closed_ && noted_)
    noted_(core::request_id{request});
}

} // namespace atelier::runtime
