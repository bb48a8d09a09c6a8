// SPDX-License-Identifier: Apache-2.0
// Implements reading; connection.cpp has the rest of the class.
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/caller_name.hpp>
#include <atelier/runtime/http/detail/connection/connection.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace atelier::runtime::http::detail {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// Bytes of one read: few while most connections are idle, more for bodies.
constexpr size_t small_block = 1024;
constexpr size_t large_block = 64 << 10;
/// Bytes that a client may send ahead of its reply before reading pauses.
constexpr size_t most_ahead = 16 << 10;
/// Time after which a client may find the next server.
constexpr auto after_a_restart = std::chrono::seconds{5};
/// Largest body of a refused request that is read to keep the connection open.
constexpr uint64_t small_body = 64 << 10;

/// Clients ignore it where they do not wait for it.
constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

/// Size from which a body is read by a thread that no connection waits for.
constexpr size_t large_body = 256 << 10;

reply_message reply_of(const refusal& x, error_shape how) {
  return error_reply(how, x.status, x.code, x.text);
}

} // namespace

void connection::await_request() {
  phase_ = phase::idle;
  request_.await();
  entry_ = {};
  if (server_->stopping)
    return close();
  // A new connection is expected to send a request soon.
  allow(served_ ? settings_->idle : std::min(settings_->read, settings_->idle));
  if (const auto bytes = input_.take(); !bytes.empty())
    return take_in(bytes);
  read();
}

void connection::read() {
  if (!input_.may_read() || phase_ == phase::closed)
    return;
  const bool body = phase_ == phase::draining
                 || (phase_ == phase::reading && request_.reads_body());
  stream_.read(input_.begin_read(body ? large_block : small_block),
               [self = shared_from_this()](error_code error, size_t bytes) {
                 self->input_.end_read();
                 if (self->phase_ != phase::closed)
                   self->was_read(error, bytes);
               });
}

void connection::was_read(error_code error, size_t bytes) {
  if (error)
    return input_ended(error == asio::error::eof
                       || error == asio::ssl::error::stream_truncated);
  switch (phase_) {
    case phase::idle:
    case phase::reading:
      take_in(input_.last_read(bytes));
      break;
    case phase::draining:
      read();
      break;
    default:
      if (input_.keep(input_.last_read(bytes)) < most_ahead)
        read();
      else
        watch();
  }
}

void connection::input_ended(bool orderly) {
  input_.end();
  const bool answering = phase_ == phase::working || phase_ == phase::writing
                      || phase_ == phase::streaming;
  if (!orderly || !answering)
    return close();
  // The client may have closed only its sending half: it still gets the replies
  // to all that it sent.
  watch();
  probe();
}

void connection::watch() {
  if (std::exchange(watching_, true))
    return;
  stream_.await_error([self = shared_from_this()](error_code error) {
    if (error != asio::error::operation_aborted)
      self->close();
  });
}

void connection::probe() {
  if (phase_ == phase::streaming) {
    if (output_.empty())
      send_heartbeat();
    return;
  }
  if (phase_ != phase::working)
    return;
  if (version_ == 11) {
    allow(server_->heartbeat);
    return say(std::string{continue_line});
  }
  // Nothing can be sent before the reply, so it is taken for gone.
  keep_alive_ = false;
  allow(settings_->idle);
  if (const auto x = current_.lock())
    x->went();
}

void connection::take_in(std::string_view bytes) {
  try {
    input_.offer(bytes, [this](std::string_view all) { return feed(all); });
  } catch (const std::exception& e) {
    core::log_error("a connection is closed: {}", e.what());
    return close();
  }
  if (input_.ended()) {
    // The rest of a request will never arrive.
    if (phase_ == phase::idle || phase_ == phase::reading)
      close();
    return;
  }
  // While the last reply is written, further input waits for the drain.
  if (phase_ == phase::writing && !keep_alive_)
    return;
  // The head of a request is kept until it is whole, and has its own limit.
  const bool reading = phase_ == phase::idle || phase_ == phase::reading;
  if (reading || input_.kept() < most_ahead)
    read();
  else
    watch();
}

/// Returns the bytes that are left for the next request.
std::string_view connection::feed(std::string_view bytes) {
  using event = incoming_request::event;
  if (phase_ == phase::idle && !bytes.empty()) {
    phase_ = phase::reading;
    settings_ = server_->settings();
    output_.limit(settings_->unsent_bytes, {});
    account_.begin(steady_now());
    allow(settings_->read);
    // judge_head() checks the body's length if the head declares it.
    request_.begin({settings_->header_bytes, settings_->body_bytes});
  }
  while (phase_ == phase::reading) {
    const auto [what, used] = request_.feed(bytes);
    bytes.remove_prefix(used);
    switch (what) {
      case event::more:
        return bytes;
      case event::head:
        judge_head();
        break;
      case event::full:
        keep_alive_ = false;
        refuse(busy_reply("too many request bodies are held at the moment"));
        break;
      case event::failed:
        keep_alive_ = false;
        if (!request_.has_head())
          entry_.errors = server_->gate.shape_for(request_.reader().target());
        refuse(reply_of(request_.reader().why(), entry_.errors));
        break;
      case event::done:
        if (entry_.refused)
          refuse(std::move(*entry_.refused));
        else
          hand_over();
    }
  }
  return bytes;
}

void connection::judge_head() {
  auto& reader = request_.reader();
  auto& asked = reader.message();
  account_.method(asked.method);
  version_ = reader.version();
  keep_alive_ = reader.keeps_alive() && !server_->stopping;
  asked.client = client_;
  entry_ = server_->gate.judge(asked, reader.target(), steady_now());
  output_.limit(settings_->unsent_bytes,
                {server_->counts->replies_held, caller_name(asked),
                 byte_shares::limits_of(settings_->replies_bytes, 0)});
  const auto declared = reader.declared_bytes();
  const auto most = settings_->body_bytes;
  if (!entry_.refused && server_->stopping)
    entry_.refused =
      error_reply(entry_.errors, failure{"stopping", "the server is stopping",
                                         after_a_restart});
  if (!entry_.refused && declared > most)
    entry_.refused =
      error_reply(entry_.errors, 413, "too_large",
                  fmt::format("the request's body of {} bytes is above {}",
                              *declared, most));
  const bool more = reader.where() == request_reader::stage::body;
  if (!entry_.refused) {
    if (!entry_.to->takes_body)
      reader.discard();
    request_.count_for({server_->counts->bodies, caller_name(asked),
                        byte_shares::limits_of(settings_->bodies_bytes, most)});
    if (more && reader.expects_continue())
      say(std::string{continue_line});
    return;
  }
  if (!more)
    return;
  reader.discard();
  if (declared && *declared <= small_body && !reader.expects_continue())
    return;
  keep_alive_ = false;
  refuse(std::move(*entry_.refused));
}

void connection::hand_over() {
  phase_ = phase::working;
  const auto received = steady_now();
  if (input_.ended())
    allow(server_->heartbeat);
  else
    allow_forever();
  account_.work();
  auto [asked, held] = request_.take();
  asked.received = received;
  const bool chunked = version_ == 11;
  const auto x = std::make_shared<live_exchange>(
    weak_from_this(), std::move(asked), std::move(held), chunked,
    settings_->unsent_bytes);
  current_ = x;
  const auto answer = [x, to = entry_.to] {
    try {
      to->answer(x);
    } catch (const std::exception& e) {
      x->reply(error_reply(to->errors, failure{"internal", e.what(), {}}));
    } catch (...) {
      x->reply(error_reply(to->errors, failure{"internal", "unknown", {}}));
    }
  };
  if (x->asked().body.size() <= large_body)
    answer();
  else if (!server_->readers->run({}, answer))
    x->reply(error_reply(entry_.errors, 503, "overloaded",
                         "too many large requests wait to be read"));
}

} // namespace atelier::runtime::http::detail
