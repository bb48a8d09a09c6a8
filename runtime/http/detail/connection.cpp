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
#include <atelier/runtime/http/detail/connection.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace atelier::runtime::http::detail {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

connection::connection(socket x, std::shared_ptr<server_state> of,
                       peer_table::seat place,
                       std::shared_ptr<asio::ssl::context> tls)
  : server_(std::move(of)),
    settings_(server_->settings()),
    place_(std::move(place)),
    socket_(std::move(x)),
    tls_context_(std::move(tls)),
    timer_(socket_.get_executor()) {
  ++server_->counts->open_connections;
}

connection::~connection() {
  {
    const std::lock_guard guard{server_->registry_mutex};
    server_->registry.erase(this);
  }
  leave_work(499);
  server_->counts->body_bytes_held -= held_bytes_;
  --server_->counts->open_connections;
}

template <class Function>
void connection::post(Function then) {
  server_->post(socket_.get_executor(),
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

void connection::event(std::string text) {
  const auto waiting = unsent_ += text.size();
  const bool slow = waiting > most_unsent_;
  post([slow, text = std::move(text)](connection& self) mutable {
    if (slow) {
      ++self.server_->counts->timed_out;
      self.close();
    } else if (self.phase_ == phase::streaming) {
      self.enqueue(std::move(text));
    } else {
      self.unsent_ -= text.size();
    }
  });
}

void connection::end_events() {
  post([](connection& self) {
    if (self.phase_ != phase::streaming)
      return;
    --self.server_->counts->open_streams;
    self.phase_ = phase::writing;
    self.allow(self.settings_->idle);
    if (self.version_ == 11) {
      self.unsent_ += last_chunk.size();
      self.enqueue(std::string{last_chunk});
    } else if (self.out_.empty()) {
      self.finish_reply();
    }
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

void connection::begin() {
  ++server_->counts->connections;
  error_code ignored;
  socket_.set_option(tcp::no_delay{true}, ignored);
  const auto end = socket_.remote_endpoint(ignored);
  client_ = end.address().to_string(ignored);
  if (tls_context_ == nullptr)
    return await_request();
  phase_ = phase::handshake;
  allow(settings_->read);
  tls_ = std::make_unique<asio::ssl::stream<socket&>>(socket_, *tls_context_);
  tls_->async_handshake(asio::ssl::stream_base::server,
                        [self = shared_from_this()](error_code error) {
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
  socket_.close(ignored);
  leave_work(499);
  if (const auto x = current_.lock()) {
    try {
      x->went();
    } catch (const std::exception& e) {
      core::log_error("telling that a client went: {}", e.what());
    }
  }
}

/// Counts the request as answered, once, whether it was worked on or refused.
void connection::leave_work(unsigned status) {
  const bool answered = std::exchange(status_, 0) != 0;
  if (!answered && !busy_)
    return;
  auto& replies = server_->counts->replies;
  ++replies[std::min<size_t>(status / 100, replies.size() - 1)];
  if (server_->done) {
    static const std::string none;
    const auto seconds = core::to_seconds(steady_now() - began_);
    server_->done(method_, entry_.to ? entry_.to->pattern : none, status,
                  seconds);
  }
  if (!std::exchange(busy_, false))
    return;
  const std::lock_guard guard{server_->busy_mutex};
  if (--server_->busy == 0)
    server_->rest.notify_all();
}

void connection::allow(core::timespan x) {
  due_ = core::after(steady_now(), x);
  if (due_ < armed_)
    arm();
}

void connection::allow_forever() {
  due_ = core::never;
}

void connection::arm() {
  armed_ = due_;
  timer_.expires_at(due_);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error || self->phase_ == phase::closed)
      return;
    self->armed_ = core::never;
    if (self->due_ == core::never)
      return;
    if (steady_now() < self->due_)
      self->arm();
    else
      self->overdue();
  });
}

void connection::overdue() {
  switch (phase_) {
    case phase::reading:
      ++server_->counts->timed_out;
      keep_alive_ = false;
      refuse(error_reply(entry_.errors, 408, "too_slow",
                         "the request did not come in time"));
      break;
    case phase::streaming:
      if (out_.empty()) {
        auto beat = std::string{heartbeat_event};
        if (version_ == 11)
          beat = chunk_text(beat);
        unsent_ += beat.size();
        allow(settings_->idle);
        enqueue(std::move(beat));
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
