// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/detail/call_border.hpp>
#include <atelier/index/vectors/detail/build_thread.hpp>

#include <system_error>
#include <utility>

namespace atelier::index::detail {

build_thread::~build_thread() {
  {
    const std::lock_guard hold{lock_};
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

bool build_thread::enter(std::function<void()> work) {
  try {
    if (!thread_.joinable())
      thread_ = std::jthread{[this] { loop(); }};
  } catch (const std::system_error&) {
    return false;
  }
  waiting_.push_back(std::move(work));
  changed_.notify_all();
  return true;
}

bool build_thread::post(std::function<void()> work) {
  const std::lock_guard hold{lock_};
  return enter(std::move(work));
}

bool build_thread::post_if_idle(std::function<void()> work) {
  const std::lock_guard hold{lock_};
  if (runs_ || !waiting_.empty())
    return false;
  return enter(std::move(work));
}

void build_thread::settle() {
  std::unique_lock hold{lock_};
  changed_.wait(hold, [&] { return !runs_ && waiting_.empty(); });
}

bool build_thread::stopping() const {
  return stopping_;
}

void build_thread::loop() {
  std::unique_lock hold{lock_};
  while (true) {
    changed_.wait(hold, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_)
      return;
    auto work = std::move(waiting_.front());
    waiting_.pop_front();
    runs_ = true;
    hold.unlock();
    ends_well("indexes", work);
    // The objects that the work held are freed without the lock.
    work = nullptr;
    hold.lock();
    runs_ = false;
    changed_.notify_all();
  }
}

} // namespace atelier::index::detail
