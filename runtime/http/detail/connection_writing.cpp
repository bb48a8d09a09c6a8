// SPDX-License-Identifier: Apache-2.0
// The answering half of connection.cpp.
#include <atelier/runtime/http/detail/connection.hpp>
#include <atelier/runtime/http/detail/request_id.hpp>

#include <boost/asio/buffer.hpp>

#include <utility>

namespace atelier::runtime::http::detail {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

/// Bodies up to here go out together with their heads.
constexpr size_t joined_body = 16 << 10;

reply_form connection::form() const {
  return {version_,      keep_alive_,  method_ == "HEAD",
          entry_.origin, entry_.trace, entry_.request_id};
}

void connection::answer(reply_message x) {
  phase_ = phase::writing;
  keep_alive_ = keep_alive_ && !server_->stopping;
  status_ = x.status;
  ready_ = x.ready;
  allow(settings_->idle);
  const auto how = form();
  auto head = head_text(x, how, x.body.size());
  const bool body = !how.head_only && !x.body.empty() && x.status >= 200
                 && x.status != 204 && x.status != 304;
  unsent_ += head.size() + (body ? x.body.size() : 0);
  if (body && x.body.size() <= joined_body)
    head += x.body;
  enqueue(std::move(head));
  if (body && x.body.size() > joined_body)
    enqueue(std::move(x.body));
}

/// Answers what no handler has seen.
void connection::refuse(reply_message x) {
  ++server_->counts->requests;
  server_->counts->body_bytes_held -= std::exchange(held_bytes_, 0);
  reader_.reset();
  if (!judged_) {
    method_.clear();
    version_ = 11;
    entry_.request_id = request_id_of({}, server_state::draw);
  }
  answer(std::move(x));
}

void connection::begin_stream() {
  phase_ = phase::streaming;
  ++server_->counts->open_streams;
  status_ = 200;
  // Without a length or chunks only the connection's end ends the stream.
  keep_alive_ = keep_alive_ && version_ == 11 && method_ != "HEAD";
  reply_message head;
  head.content_type = "text/event-stream";
  head.headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
  auto text = head_text(head, form(), std::nullopt);
  unsent_ += text.size();
  if (method_ == "HEAD") {
    phase_ = phase::writing;
    --server_->counts->open_streams;
  }
  allow(settings_->idle);
  enqueue(std::move(text));
}

void connection::enqueue(std::string text) {
  // From now on the client is to read, no longer the stream to show a sign of
  // life.
  if (phase_ == phase::streaming && out_.empty())
    allow(settings_->idle);
  out_.push_back(std::move(text));
  write();
}

void connection::write() {
  if (writing_ || out_.empty())
    return;
  writing_ = true;
  const auto rest =
    asio::buffer(out_.front().data() + out_at_, out_.front().size() - out_at_);
  auto done = [self = shared_from_this()](error_code error, size_t bytes) {
    self->writing_ = false;
    if (self->phase_ != phase::closed)
      self->was_written(error, bytes);
  };
  if (tls_)
    tls_->async_write_some(rest, std::move(done));
  else
    socket_.async_write_some(rest, std::move(done));
}

void connection::was_written(error_code error, size_t bytes) {
  if (error)
    return close();
  unsent_ -= bytes;
  out_at_ += bytes;
  if (out_at_ == out_.front().size()) {
    out_.pop_front();
    out_at_ = 0;
  }
  if (phase_ == phase::writing || phase_ == phase::streaming)
    allow(settings_->idle);
  if (out_.empty())
    all_written();
  else
    write();
}

void connection::all_written() {
  if (phase_ == phase::writing) {
    finish_reply();
  } else if (phase_ == phase::streaming) {
    allow(server_->heartbeat);
  }
}

void connection::finish_reply() {
  served_ = true;
  const auto ready = std::exchange(ready_, {});
  if (server_->responded && ready != core::time_point{})
    server_->responded(core::to_seconds(steady_now() - ready));
  leave_work(status_);
  current_.reset();
  if (keep_alive_ && !input_ended_ && !server_->stopping)
    await_request();
  else
    linger();
}

void connection::linger() {
  phase_ = phase::draining;
  ahead_.clear();
  allow(server_->linger);
  if (tls_) {
    tls_->async_shutdown([self = shared_from_this()](error_code error) {
      if (self->phase_ != phase::draining)
        return;
      // It fails where the client was still sending.
      if (error && !self->reading_)
        self->drain();
      else
        self->close();
    });
    return;
  }
  drain();
}

void connection::drain() {
  bare_ = true;
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  if (input_ended_)
    return close();
  read();
}

} // namespace atelier::runtime::http::detail
