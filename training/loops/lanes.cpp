// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/lanes.hpp>

namespace atelier::gpu {

lanes::lanes(size_t count) {
  thrown_.resize(count);
  for (size_t i = 1; i < count; ++i)
    threads_.emplace_back([this, i] { serve(i); });
}

lanes::~lanes() {
  {
    const std::lock_guard guard{mutex_};
    ended_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_)
    thread.join();
}

void lanes::call(size_t number) {
  try {
    (*work_)(number);
  } catch (...) {
    thrown_[number] = std::current_exception();
  }
}

void lanes::run(const std::function<void(size_t)>& work) {
  thrown_.assign(count(), nullptr);
  {
    const std::lock_guard guard{mutex_};
    work_ = &work;
    busy_ = threads_.size();
    ++round_;
  }
  changed_.notify_all();
  call(0);
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return busy_ == 0; });
  for (const auto& why : thrown_)
    if (why)
      std::rethrow_exception(why);
}

void lanes::serve(size_t number) {
  uint64_t seen = 0;
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [&] { return ended_ || round_ != seen; });
    if (ended_)
      return;
    seen = round_;
    lock.unlock();
    call(number);
    lock.lock();
    if (--busy_ == 0)
      changed_.notify_all();
  }
}

} // namespace atelier::gpu
