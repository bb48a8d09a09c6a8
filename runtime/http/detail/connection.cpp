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
// One file, because every member stands on the state of the same strand.
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/connection.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

/// Of one read: little where most connections rest, more for bodies.
constexpr size_t small_block = 1024;
constexpr size_t large_block = 64 << 10;
/// What a client may send ahead of its reply before it is left waiting.
constexpr size_t most_ahead = 16 << 10;
/// A refused request's body up to here is read, so that the connection lives.
constexpr uint64_t small_body = 64 << 10;
/// Bodies up to here go out together with their heads.
constexpr size_t joined_body = 16 << 10;

core::time_point now() {
  return std::chrono::steady_clock::now();
}

reply_message reply_of(const refusal& x, error_shape how) {
  return error_reply(how, x.status, x.code, x.text);
}

} // namespace

connection::connection(socket x, std::shared_ptr<server_state> of,
                       peer_table::seat place,
                       std::shared_ptr<asio::ssl::context> tls)
  : server_(std::move(of)),
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
  const bool slow = waiting > server_->settings.unsent_bytes;
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
    self.allow(self.server_->settings.idle);
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
  allow(server_->settings.read);
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

void connection::await_request() {
  phase_ = phase::idle;
  judged_ = false;
  entry_ = {};
  if (server_->stopping)
    return close();
  // A new connection is expected to have something to say.
  allow(served_ ? server_->settings.idle
                : std::min(server_->settings.read, server_->settings.idle));
  if (!ahead_.empty()) {
    const auto bytes = std::exchange(ahead_, {});
    take_in(bytes);
    return;
  }
  read();
}

void connection::read() {
  if (reading_ || input_ended_ || phase_ == phase::closed)
    return;
  reading_ = true;
  const bool body = phase_ == phase::draining
                 || (phase_ == phase::reading
                     && reader_->where() == request_reader::stage::body);
  const auto wanted = body ? large_block : small_block;
  if (block_.size() != wanted)
    std::vector<char>(wanted).swap(block_);
  auto done = [self = shared_from_this()](error_code error, size_t bytes) {
    self->reading_ = false;
    if (self->phase_ != phase::closed)
      self->was_read(error, bytes);
  };
  if (tls_ && !bare_)
    tls_->async_read_some(asio::buffer(block_), std::move(done));
  else
    socket_.async_read_some(asio::buffer(block_), std::move(done));
}

void connection::was_read(error_code error, size_t bytes) {
  if (error)
    return input_ended(error == asio::error::eof
                       || error == asio::ssl::error::stream_truncated);
  switch (phase_) {
    case phase::idle:
    case phase::reading:
      take_in({block_.data(), bytes});
      break;
    case phase::draining:
      read();
      break;
    default:
      ahead_.append(block_.data(), bytes);
      if (ahead_.size() < most_ahead)
        read();
  }
}

void connection::input_ended(bool orderly) {
  input_ended_ = true;
  const bool answering = phase_ == phase::working || phase_ == phase::writing;
  if (!orderly || !answering)
    return close();
  // Its half alone may be closed: then the reply still finds it.
  keep_alive_ = false;
  if (phase_ == phase::working) {
    allow(server_->settings.idle);
    if (const auto x = current_.lock())
      x->went();
  }
}

void connection::take_in(std::string_view bytes) {
  try {
    if (ahead_.empty()) {
      // Copied before: the next read may come into the same block.
      ahead_ = std::string{feed(bytes)};
    } else {
      ahead_ += bytes;
      const auto rest = feed(ahead_);
      ahead_.erase(0, ahead_.size() - rest.size());
    }
  } catch (const std::exception& e) {
    core::log_error("a connection is closed: {}", e.what());
    return close();
  }
  // While a last reply goes out, what comes waits for the drain.
  if (phase_ != phase::writing || keep_alive_)
    read();
}

/// Returns what is left for the next request.
std::string_view connection::feed(std::string_view bytes) {
  using stage = request_reader::stage;
  if (phase_ == phase::idle && !bytes.empty()) {
    phase_ = phase::reading;
    began_ = now();
    allow(server_->settings.read);
    const auto& most = server_->settings;
    // The body's limit is judged with the head where the head tells it.
    reader_ = std::make_unique<request_reader>(
      request_reader::limits{most.header_bytes, most.body_bytes});
  }
  while (phase_ == phase::reading) {
    const auto before = reader_->where();
    const auto used = reader_->feed(bytes);
    bytes.remove_prefix(used);
    if (reader_->where() == stage::failed) {
      keep_alive_ = false;
      if (!judged_)
        entry_.errors = server_->gate.shape_for(reader_->target());
      refuse(reply_of(reader_->why(), entry_.errors));
      break;
    }
    if (!judged_ && reader_->where() != stage::head) {
      judged_ = true;
      judge_head();
      if (phase_ != phase::reading)
        break;
    }
    if (!count_body())
      break;
    if (reader_->where() == stage::done) {
      if (entry_.refused)
        refuse(std::move(*entry_.refused));
      else
        hand_over();
      break;
    }
    if (used == 0 && before == reader_->where())
      break;
  }
  return bytes;
}

void connection::judge_head() {
  auto& asked = reader_->message();
  method_ = asked.method;
  version_ = reader_->version();
  keep_alive_ = reader_->keeps_alive() && !server_->stopping;
  asked.client = client_;
  entry_ = server_->gate.judge(asked, reader_->target(), now());
  const auto declared = reader_->declared_bytes();
  const auto most = server_->settings.body_bytes;
  if (!entry_.refused && server_->stopping)
    entry_.refused =
      error_reply(entry_.errors, 503, "stopping", "the server is stopping");
  if (!entry_.refused && declared > most)
    entry_.refused =
      error_reply(entry_.errors, 413, "too_large",
                  fmt::format("the request's body of {} bytes is above {}",
                              *declared, most));
  const bool more = reader_->where() == request_reader::stage::body;
  if (!entry_.refused) {
    if (more && reader_->expects_continue()) {
      constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
      unsent_ += go_on.size();
      enqueue(std::string{go_on});
    }
    return;
  }
  if (!more)
    return;
  reader_->discard();
  if (declared && *declared <= small_body && !reader_->expects_continue())
    return;
  keep_alive_ = false;
  refuse(std::move(*entry_.refused));
}

/// Counts what came of the body; false where that is too much for all.
bool connection::count_body() {
  const auto held = reader_->message().body.size();
  if (held == held_bytes_)
    return true;
  auto& all = server_->counts->body_bytes_held;
  all += held - held_bytes_;
  held_bytes_ = held;
  if (all <= server_->settings.bodies_bytes)
    return true;
  auto reply = error_reply(entry_.errors, 503, "overloaded",
                           "too many request bodies are held at this moment");
  reply.headers.emplace_back("Retry-After", "1");
  keep_alive_ = false;
  refuse(std::move(reply));
  return false;
}

void connection::hand_over() {
  phase_ = phase::working;
  allow_forever();
  busy_ = true;
  {
    const std::lock_guard guard{server_->busy_mutex};
    ++server_->busy;
  }
  ++server_->counts->requests;
  const bool chunked = version_ == 11;
  const auto x = std::make_shared<live_exchange>(
    weak_from_this(), std::move(reader_->message()), server_->counts,
    std::exchange(held_bytes_, 0), chunked);
  reader_.reset();
  current_ = x;
  try {
    entry_.to->answer(x);
  } catch (const std::exception& e) {
    x->reply(error_reply(entry_.errors, failure{"internal", e.what(), {}}));
  } catch (...) {
    x->reply(error_reply(entry_.errors, failure{"internal", "unknown", {}}));
  }
}

reply_form connection::form() const {
  return {version_, keep_alive_, method_ == "HEAD", entry_.origin,
          entry_.trace};
}

void connection::answer(reply_message x) {
  phase_ = phase::writing;
  keep_alive_ = keep_alive_ && !server_->stopping;
  status_ = x.status;
  allow(server_->settings.idle);
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
  allow(server_->settings.idle);
  enqueue(std::move(text));
}

void connection::enqueue(std::string text) {
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
    allow(server_->settings.idle);
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
    const auto seconds = core::to_seconds(now() - began_);
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
  due_ = core::after(now(), x);
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
    if (now() < self->due_)
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
        allow(server_->settings.idle);
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
