// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/event_feed.hpp>

namespace atelier::runtime::http::detail {

void event_feed::open(std::string name, std::string data) {
  to_->begin_events();
  {
    const std::lock_guard guard{mutex_};
    open_ = true;
    if (!data.empty())
      waiting_.push_front({std::move(name), std::move(data)});
  }
  drain();
}

void event_feed::send(std::string name, std::string data) {
  push({std::move(name), std::move(data)});
}

void event_feed::send(std::string name, std::shared_ptr<shared_text> data) {
  item x{std::move(name), {}};
  x.shared = std::move(data);
  push(std::move(x));
}

void event_feed::send_passing(std::string name, std::string data) {
  item x{std::move(name), std::move(data)};
  x.passing = true;
  push(std::move(x));
}

event_feed::item* event_feed::reserve(std::string name) {
  item x{std::move(name), {}};
  x.ready = false;
  x.passing = true;
  return push(std::move(x));
}

void event_feed::fill(item* place, std::string data) {
  {
    const std::lock_guard guard{mutex_};
    place->data = std::move(data);
    place->ready = true;
  }
  drain();
}

void event_feed::leave_out(item* place) {
  {
    const std::lock_guard guard{mutex_};
    place->ready = place->left_out = true;
  }
  drain();
}

void event_feed::close() {
  push({{}, {}, true, true});
}

event_feed::item* event_feed::push(item x) {
  item* place = nullptr;
  {
    const std::lock_guard guard{mutex_};
    place = &waiting_.emplace_back(std::move(x));
  }
  drain();
  return place;
}

void event_feed::drain() {
  std::unique_lock guard{mutex_};
  if (!open_ || sending_)
    return;
  sending_ = true;
  while (!waiting_.empty() && waiting_.front().ready) {
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    guard.unlock();
    if (next.last)
      to_->end_events();
    else if (next.shared)
      to_->share_event(next.name, next.shared);
    else if (next.passing && !next.left_out)
      to_->passing_event(next.name, next.data);
    else if (!next.left_out)
      to_->event(next.name, next.data);
    guard.lock();
  }
  sending_ = false;
}

} // namespace atelier::runtime::http::detail
