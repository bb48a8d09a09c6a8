// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/detail/call_border.hpp>
#include <atelier/index/detail/call_thread.hpp>

#include <utility>

namespace atelier::index::detail {

call_thread::call_thread(core::timespan grace, size_t most_posted)
  : grace_(grace),
    most_posted_(most_posted),
    shared_(std::make_shared<shared>()),
    thread_([in = shared_] { loop(in); }) {}

call_thread::~call_thread() {
  bool idle = false;
  {
    std::unique_lock hold{shared_->lock};
    shared_->stopping = true;
    shared_->waiting.clear();
    shared_->changed.notify_all();
    idle =
      shared_->changed.wait_for(hold, grace_, [&] { return !shared_->runs; });
  }
  if (idle)
    thread_.join();
  else
    thread_.detach();
}

call_thread::ending call_thread::run(std::function<void()> call,
                                     core::timespan most) {
  const auto how = std::make_shared<ending>(ending::late);
  std::unique_lock hold{shared_->lock};
  const auto own = ++shared_->last;
  shared_->waiting.push_back({own, std::move(call), how});
  shared_->changed.notify_all();
  if (shared_->changed.wait_for(hold, most,
                                [&] { return shared_->ended >= own; }))
    return *how;
  std::erase_if(shared_->waiting,
                [&](const queued& x) { return x.number == own; });
  return ending::late;
}

bool call_thread::post(std::function<void()> call) {
  const std::lock_guard hold{shared_->lock};
  if (shared_->pending() >= most_posted_) {
    ++shared_->refused;
    return false;
  }
  shared_->waiting.push_back({++shared_->last, std::move(call)});
  shared_->changed.notify_all();
  return true;
}

size_t call_thread::finish(core::timespan most) {
  std::unique_lock hold{shared_->lock};
  shared_->changed.wait_for(hold, most,
                            [&] { return shared_->pending() == 0; });
  return shared_->pending();
}

call_thread::counted call_thread::counts() const {
  const std::lock_guard hold{shared_->lock};
  return {shared_->pending(), shared_->refused, shared_->failed};
}

void call_thread::loop(const std::shared_ptr<shared>& in) {
  std::unique_lock hold{in->lock};
  for (;;) {
    in->changed.wait(hold,
                     [&] { return in->stopping || !in->waiting.empty(); });
    if (in->waiting.empty())
      return;
    auto next = std::move(in->waiting.front());
    in->waiting.pop_front();
    in->runs = true;
    hold.unlock();
    const bool good = ends_well("slow calls", next.call);
    // What the call owned is freed without the lock, and before its end.
    next.call = nullptr;
    hold.lock();
    in->runs = false;
    in->ended = next.number;
    in->failed += good ? 0 : 1;
    if (next.how)
      *next.how = good ? ending::done : ending::failed;
    in->changed.notify_all();
  }
}

} // namespace atelier::index::detail
