// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/connection.hpp>
#include <atelier/runtime/http/detail/connection/live_exchange.hpp>
#include <atelier/runtime/http/detail/connection/reply_text.hpp>

#include <utility>

namespace atelier::runtime::http::detail {

live_exchange::live_exchange(std::weak_ptr<connection> to,
                             request_message asked, byte_shares::part held,
                             bool chunked, uint64_t unread_bytes)
  : to_(std::move(to)),
    asked_(std::move(asked)),
    held_(std::move(held)),
    chunked_(chunked),
    unread_bytes_(unread_bytes) {}

live_exchange::~live_exchange() {
  if (stage_ == stage::answered)
    return;
  if (const auto to = to_.lock())
    to->drop();
}

const request_message& live_exchange::asked() const {
  return asked_;
}

void live_exchange::drop_body() {
  asked_.body = std::string{};
  held_.clear();
}

void live_exchange::reply(reply_message x) {
  std::function<void()> unused;
  const std::lock_guard guard{mutex_};
  if (stage_ != stage::asked)
    return;
  stage_ = stage::answered;
  unused = std::exchange(then_, nullptr);
  if (const auto to = to_.lock())
    to->send(std::move(x));
}

void live_exchange::begin_events() {
  const std::lock_guard guard{mutex_};
  if (stage_ != stage::asked)
    return;
  stage_ = stage::streaming;
  if (const auto to = to_.lock())
    to->begin_events();
}

void live_exchange::event(std::string_view name, std::string_view data) {
  auto text = wire_text(name, data);
  const std::lock_guard guard{mutex_};
  if (stage_ != stage::streaming)
    return;
  if (const auto to = to_.lock())
    to->event({std::move(text), nullptr, {}});
}

void live_exchange::share_event(std::string_view name,
                                std::shared_ptr<shared_text> data) {
  // A small text is not worth a write of its own.
  if (data->text().size() <= output_queue::small)
    return event(name, data->text());
  auto around = frame_of(name, data->text().size(), chunked_);
  const std::lock_guard guard{mutex_};
  if (stage_ != stage::streaming)
    return;
  if (const auto to = to_.lock())
    to->event(
      {std::move(around.before), std::move(data), std::move(around.after)});
}

void live_exchange::passing_event(std::string_view name,
                                  std::string_view data) {
  auto text = wire_text(name, data);
  const std::lock_guard guard{mutex_};
  if (stage_ != stage::streaming)
    return;
  if (const auto to = to_.lock())
    to->passing_event({std::move(text), nullptr, {}});
}

std::string live_exchange::wire_text(std::string_view name,
                                     std::string_view data) const {
  auto text = event_text(name, data);
  return chunked_ ? chunk_text(text) : text;
}

void live_exchange::end_events() {
  std::function<void()> unused;
  const std::lock_guard guard{mutex_};
  if (stage_ != stage::streaming)
    return;
  stage_ = stage::answered;
  unused = std::exchange(then_, nullptr);
  if (const auto to = to_.lock())
    to->end_events();
}

void live_exchange::on_gone(std::function<void()> then) {
  std::unique_lock guard{mutex_};
  if (stage_ == stage::answered)
    return;
  if (!gone_) {
    std::swap(then_, then);
    // What was set before ends outside of the lock.
    guard.unlock();
    return;
  }
  guard.unlock();
  if (then)
    then();
}

void live_exchange::went() {
  std::function<void()> then;
  {
    const std::lock_guard guard{mutex_};
    gone_ = true;
    if (stage_ == stage::answered)
      return;
    then = std::exchange(then_, nullptr);
  }
  if (then)
    then();
}

} // namespace atelier::runtime::http::detail
