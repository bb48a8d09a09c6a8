// SPDX-License-Identifier: Apache-2.0
//
// The way of a request, phase by phase:
//
//   idle --first byte--> reading --head--> judge_head --+-- refused ----+
//    ^                                  (body)          v               |
//    |                                              working: handler    |
//    |                                     reply |      | begin_events  |
//    |                                           v      v               |
//    +------------------- written ------------ writing <- streaming     |
//                            |  or not to live on: draining <-----------+
//
// Here: its begin, what other threads ask of it, its time and its end. Reading
// is in connection_reading.cpp, answering in connection_writing.cpp.
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/connection/connection.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace atelier::runtime::http::detail {

using boost::system::error_code;

connection::connection(socket x, std::shared_ptr<server_state> of,
                       peer_table::seat place,
                       std::shared_ptr<boost::asio::ssl::context> tls)
  : server_(std::move(of)),
    settings_(server_->settings()),
    place_(std::move(place)),
    stream_(std::move(x), std::move(tls)),
    timer_(stream_.get_executor()),
    account_(server_) {
  ++server_->counts->open_connections;
}

connection::~connection() {
  {
    const std::lock_guard guard{server_->registry_mutex};
    server_->registry.erase(this);
  }
  close_account(499);
  --server_->counts->open_connections;
}

template <class Function>
void connection::post(Function then) {
  server_->post(stream_.get_executor(),
                [self = shared_from_this(), then = std::move(then)]() mutable {
                  if (self->phase_ != phase::closed)
                    then(*self);
                });
}

void connection::start() {
  {
    const std::lock_guard guard{server_->registry_mutex};
    if (server_->closing)
      return;
    server_->registry.insert(this);
  }
  post([](connection& self) { self.begin(); });
}

void connection::send(reply_message x) {
  post([x = std::move(x)](connection& self) mutable {
    if (self.phase_ == phase::working)
      self.answer(std::move(x));
  });
}

void connection::begin_events() {
  post([](connection& self) {
    if (self.phase_ == phase::working)
      self.begin_stream();
  });
}

void connection::event(wire_event x) {
  const auto how = output_.offer(x.own_bytes(), x.data.get());
  // An event that the queue did not take is not kept for the strand either.
  if (how != output_queue::verdict::taken)
    x = {};
  post([how, x = std::move(x)](connection& self) mutable {
    self.take_event(how, std::move(x));
  });
}

void connection::passing_event(wire_event x) {
  const auto how = output_.offer(x.own_bytes(), x.data.get());
  if (how == output_queue::verdict::no_room)
    return;
  post([how, x = std::move(x)](connection& self) mutable {
    self.take_event(how, std::move(x));
  });
}

void connection::end_events() {
  post([](connection& self) {
    if (self.phase_ == phase::streaming)
      self.finish_stream();
  });
}

void connection::drop() {
  post([](connection& self) {
    if (self.phase_ == phase::working)
      self.answer(error_reply(self.entry_.errors,
                              failure{"internal", "no handler answered", {}}));
    else if (self.phase_ == phase::streaming)
      self.close();
  });
}

void connection::wind_down() {
  post([](connection& self) {
    if (self.phase_ == phase::idle || self.phase_ == phase::handshake)
      self.close();
    else
      self.keep_alive_ = false;
  });
}

void connection::close_soon() {
  post([](connection& self) { self.close(); });
}

void connection::close_stranger() {
  post([](connection& self) {
    const auto& key = self.entry_.key_sha256;
    if (!key.empty() && !self.server_->gate.knows_key(key))
      self.close();
  });
}

void connection::begin() {
  ++server_->counts->connections;
  client_ = stream_.begin();
  if (!stream_.secure())
    return await_request();
  phase_ = phase::handshake;
  allow(settings_->read);
  stream_.shake_hands([self = shared_from_this()](error_code error) {
    if (self->phase_ != phase::handshake)
      return;
    if (error)
      self->close();
    else
      self->await_request();
  });
}

void connection::close() {
  if (phase_ == phase::closed)
    return;
  if (phase_ == phase::streaming)
    --server_->counts->open_streams;
  phase_ = phase::closed;
  error_code ignored;
  timer_.cancel(ignored);
  stream_.close();
  close_account(499);
  if (const auto x = current_.lock()) {
    try {
      x->went();
    } catch (const std::exception& e) {
      core::log_error("reporting a lost client failed: {}", e.what());
    }
  }
}

void connection::close_account(unsigned status) {
  account_.close(status, entry_, client_, steady_now());
}

void connection::allow(core::timespan x) {
  if (deadline_.set(core::after(steady_now(), x)))
    arm();
}

void connection::allow_forever() {
  deadline_.clear();
}

void connection::arm() {
  timer_.expires_at(deadline_.timer_at());
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error || self->phase_ == phase::closed)
      return;
    switch (self->deadline_.wake(steady_now())) {
      case moving_deadline::woken::idle:
        break;
      case moving_deadline::woken::early:
        self->arm();
        break;
      case moving_deadline::woken::due:
        self->overdue();
        break;
    }
  });
}

void connection::overdue() {
  switch (phase_) {
    case phase::working:
      // There is a deadline only once the client sends no more.
      probe();
      break;
    case phase::reading:
      ++server_->counts->timed_out;
      keep_alive_ = false;
      refuse(error_reply(entry_.errors, 408, "too_slow",
                         "the request did not arrive in time"));
      break;
    case phase::streaming:
      if (output_.empty()) {
        send_heartbeat();
        break;
      }
      [[fallthrough]];
    case phase::handshake:
    case phase::writing:
      ++server_->counts->timed_out;
      [[fallthrough]];
    default:
      close();
  }
}

} // namespace atelier::runtime::http::detail
