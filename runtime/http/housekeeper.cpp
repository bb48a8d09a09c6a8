// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/housekeeper.hpp>

#include <exception>
#include <utility>

namespace atelier::runtime::http {

housekeeper::housekeeper(std::vector<std::function<void()>> chores,
                         core::timespan period)
  : thread_([this, all = std::move(chores), period] { work(all, period); }) {}

housekeeper::~housekeeper() {
  {
    const std::lock_guard guard{mutex_};
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void housekeeper::work(const std::vector<std::function<void()>>& chores,
                       core::timespan period) {
  for (;;) {
    for (const auto& chore : chores) {
      try {
        chore();
      } catch (const std::exception& e) {
        core::log_error("a chore of the server failed: {}", e.what());
      } catch (...) {
        core::log_error("a chore of the server failed");
      }
    }
    std::unique_lock lock{mutex_};
    if (wake_.wait_for(lock, period, [&] { return ending_; }))
      return;
  }
}

} // namespace atelier::runtime::http
