// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/status_board.hpp>

#include <utility>

namespace atelier::runtime::http {

namespace {

constexpr size_t most_recent = 4096;
constexpr core::timespan recent_for = std::chrono::minutes{10};

} // namespace

status_board::status_board(std::shared_ptr<picture_service> from,
                           core::timespan period)
  : from_(std::move(from)),
    period_(period),
    last_(from_->status()),
    thread_([this] { loop(); }) {}

status_board::~status_board() {
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
}

engine_status status_board::last() const {
  const std::lock_guard guard{mutex_};
  return last_;
}

void status_board::note(const picture& x) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard guard{mutex_};
  recent_.push_back({now, x.variant, x.route, x.took.total});
  while (recent_.size() > most_recent || now - recent_.front().at > recent_for)
    recent_.pop_front();
}

std::vector<recent_picture> status_board::recent() const {
  const std::lock_guard guard{mutex_};
  return {recent_.begin(), recent_.end()};
}

void status_board::loop() {
  std::unique_lock guard{mutex_};
  while (!wake_.wait_for(guard, period_, [this] { return stopping_; })) {
    guard.unlock();
    auto now = from_->status();
    guard.lock();
    last_ = std::move(now);
  }
}

} // namespace atelier::runtime::http
