// SPDX-License-Identifier: Apache-2.0
// The answering half of connection.cpp.
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/connection/connection.hpp>
#include <atelier/runtime/http/detail/connection/request_id.hpp>

#include <utility>

namespace atelier::runtime::http::detail {

using boost::system::error_code;

/// Bodies up to here go out together with their heads.
constexpr size_t joined_body = output_queue::small;

/// The data of a stream's last event if its next one finds no room.
constexpr std::string_view no_room_event =
  R"({"type":"error","error":{"code":"overloaded","message":)"
  R"("too many events wait to be read at the moment: ask again"}})";

reply_form connection::form() const {
  return {version_,      keep_alive_,  account_.is_head(),
          entry_.origin, entry_.trace, entry_.request_id};
}

void connection::answer(reply_message x) {
  phase_ = phase::writing;
  keep_alive_ = keep_alive_ && !server_->stopping && may_ask_again();
  account_.answer(x.status);
  ready_ = x.ready;
  allow(settings_->idle);
  const auto how = form();
  const bool body = !how.head_only && !x.body.empty() && x.status >= 200
                 && x.status != 204 && x.status != 304;
  const bool apart = body && x.body.size() > joined_body;
  if (apart && !output_.reserve(x.body.size()))
    return answer(busy_reply("too many replies wait to be read at the moment"));
  auto head = head_text(x, how, x.body.size());
  if (body && !apart)
    head += x.body;
  say(std::move(head));
  if (apart)
    enqueue(std::move(x.body));
}

reply_message connection::busy_reply(std::string_view why) const {
  auto reply = error_reply(entry_.errors, 503, "overloaded", why);
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

/// Answers what no handler has seen.
void connection::refuse(reply_message x) {
  ++server_->counts->requests;
  request_.drop();
  if (!request_.has_head()) {
    account_.method({});
    version_ = 11;
    entry_.request_id = request_id_of({}, server_state::draw);
  }
  answer(std::move(x));
}

void connection::begin_stream() {
  phase_ = phase::streaming;
  ++server_->counts->open_streams;
  account_.answer(200);
  // Without a length or chunks only the connection's end ends the stream.
  keep_alive_ = keep_alive_ && version_ == 11 && !account_.is_head();
  reply_message head;
  head.content_type = "text/event-stream";
  head.headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
  auto text = head_text(head, form(), std::nullopt);
  if (account_.is_head()) {
    phase_ = phase::writing;
    --server_->counts->open_streams;
  }
  allow(settings_->idle);
  say(std::move(text));
  // A head has no events, so whoever sends them may stop.
  if (phase_ == phase::writing)
    if (const auto x = current_.lock())
      x->went();
}

void connection::take_event(output_queue::verdict how, wire_event x) {
  using verdict = output_queue::verdict;
  if (how == verdict::too_slow) {
    ++server_->counts->timed_out;
    close();
  } else if (how == verdict::no_room) {
    if (phase_ == phase::streaming)
      break_off();
  } else if (phase_ == phase::streaming) {
    enqueue(std::move(x));
  } else {
    output_.withdraw(x.own_bytes(), x.data.get());
  }
}

void connection::break_off() {
  // The exchange may send more events, which no later stream may receive.
  keep_alive_ = false;
  const auto x = current_.lock();
  auto text = event_text("error", no_room_event);
  say(version_ == 11 ? chunk_text(text) : std::move(text));
  finish_stream();
  if (x)
    x->went();
}

void connection::finish_stream() {
  --server_->counts->open_streams;
  phase_ = phase::writing;
  allow(settings_->idle);
  if (version_ == 11)
    say(std::string{last_chunk});
  else if (output_.empty())
    finish_reply();
}

void connection::say(std::string text) {
  output_.announce(text.size());
  enqueue(std::move(text));
}

void connection::send_heartbeat() {
  auto beat = std::string{heartbeat_event};
  if (version_ == 11)
    beat = chunk_text(beat);
  allow(settings_->idle);
  say(std::move(beat));
}

void connection::enqueue(std::string text) {
  // From now on the client is to read, no longer the stream to show a sign of
  // life.
  if (phase_ == phase::streaming && output_.empty())
    allow(settings_->idle);
  output_.push(std::move(text));
  write();
}

void connection::enqueue(wire_event x) {
  enqueue(std::move(x.text));
  if (!x.data)
    return;
  output_.push(std::move(x.data));
  enqueue(std::move(x.after));
}

void connection::write() {
  const auto rest = output_.begin_write();
  if (!rest)
    return;
  stream_.write(*rest,
                [self = shared_from_this()](error_code error, size_t bytes) {
                  self->output_.end_write();
                  if (self->phase_ != phase::closed)
                    self->was_written(error, bytes);
                });
}

void connection::was_written(error_code error, size_t bytes) {
  if (error)
    return close();
  const bool in_time = output_.written(bytes, server_->pace_bytes);
  account_.sent(bytes);
  if (in_time && (phase_ == phase::writing || phase_ == phase::streaming))
    allow(settings_->idle);
  if (output_.empty())
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
  close_account(account_.status());
  current_.reset();
  if (keep_alive_ && may_ask_again() && !server_->stopping)
    await_request();
  else
    linger();
}

void connection::linger() {
  phase_ = phase::draining;
  input_.take();
  allow(server_->linger);
  if (stream_.secure()) {
    stream_.end_tls([self = shared_from_this()](error_code error) {
      if (self->phase_ != phase::draining)
        return;
      // It fails where the client was still sending.
      if (error && !self->input_.reading())
        self->drain();
      else
        self->close();
    });
    return;
  }
  drain();
}

void connection::drain() {
  stream_.end_output();
  if (input_.ended())
    return close();
  read();
}

} // namespace atelier::runtime::http::detail
