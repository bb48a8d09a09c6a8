// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/event_feed.hpp>

namespace atelier::runtime::http::detail {

void event_feed::open(std::string name, std::string data) {
  to_->begin_events();
  {
    const std::lock_guard guard{mutex_};
    open_ = true;
    if (!data.empty())
      waiting_.push_front({std::move(name), std::move(data), false});
  }
  drain();
}

void event_feed::send(std::string name, std::string data) {
  push({std::move(name), std::move(data), false});
}

void event_feed::close() {
  push({{}, {}, true});
}

void event_feed::push(item x) {
  {
    const std::lock_guard guard{mutex_};
    waiting_.push_back(std::move(x));
  }
  drain();
}

void event_feed::drain() {
  std::unique_lock guard{mutex_};
  if (!open_ || sending_)
    return;
  sending_ = true;
  while (!waiting_.empty()) {
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    guard.unlock();
    if (next.last)
      to_->end_events();
    else
      to_->event(next.name, next.data);
    guard.lock();
  }
  sending_ = false;
}

} // namespace atelier::runtime::http::detail
