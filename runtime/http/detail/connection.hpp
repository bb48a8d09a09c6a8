// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/client_stream.hpp>
#include <atelier/runtime/http/detail/input_buffer.hpp>
#include <atelier/runtime/http/detail/live_exchange.hpp>
#include <atelier/runtime/http/detail/moving_deadline.hpp>
#include <atelier/runtime/http/detail/output_queue.hpp>
#include <atelier/runtime/http/detail/reply_text.hpp>
#include <atelier/runtime/http/detail/request_reader.hpp>
#include <atelier/runtime/http/detail/server_state.hpp>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

inline core::time_point steady_now() {
  return std::chrono::steady_clock::now();
}

/// One connection: reads a request, has it judged and answered, writes the
/// reply, and reads the next one. While a request is worked on it goes on
/// reading, a little, to see its client go.
///
/// Lives by its pending reads, writes and timer alone. It has one timer, whose
/// moment means something else in each phase.
///
/// Owns the parts that know one thing each (the way to the client, what came,
/// what goes, the timer's moment), and the request under way with its phase,
/// which every transition touches.
/// Threads: what is marked so from any; the rest on the strand.
class connection : public std::enable_shared_from_this<connection> {
public:
  using socket = client_stream::socket;

  /// @param place among those of its peer
  /// @param tls null: none
  connection(socket x, std::shared_ptr<server_state> of, peer_table::seat place,
             std::shared_ptr<boost::asio::ssl::context> tls);

  ~connection();

  // From any thread.

  void start();

  /// The whole reply to the request under way.
  void send(reply_message x);

  void begin_events();

  /// @param text as it goes over the wire
  void event(std::string text);

  void end_events();

  /// The request's exchange was given up without an answer.
  void drop();

  /// Ends it where nothing is worked on, else after the reply.
  void wind_down();

  void close_soon();

private:
  enum class phase : uint8_t {
    handshake,
    /// Waits for a request's first byte.
    idle,
    reading,
    /// The handler has it.
    working,
    streaming,
    /// The last bytes of the answer go out.
    writing,
    /// Answered for good: what the client still sends is thrown away.
    draining,
    closed
  };

  /// Has `then(*this)` run on the strand.
  template <class Function>
  void post(Function then);

  // Reading.
  void begin();
  void await_request();
  void read();
  void was_read(boost::system::error_code error, size_t bytes);
  void input_ended(bool orderly);
  void take_in(std::string_view bytes);
  std::string_view feed(std::string_view bytes);
  void judge_head();
  bool count_body();
  void hand_over();

  // Answering.
  reply_form form() const;
  void answer(reply_message x);
  void refuse(reply_message x);
  void begin_stream();
  /// Writes a text whose bytes were not announced before.
  void say(std::string text);
  void enqueue(std::string text);
  void write();
  void was_written(boost::system::error_code error, size_t bytes);
  void all_written();
  void finish_reply();

  // Ending.
  void linger();
  void drain();
  void close();
  void leave_work(unsigned status);

  // Time.
  void allow(core::timespan x);
  void allow_forever();
  void arm();
  void overdue();

  const std::shared_ptr<server_state> server_;
  /// As of the request's begin.
  std::shared_ptr<const config::http_settings> settings_;
  const peer_table::seat place_;
  client_stream stream_;
  boost::asio::steady_timer timer_;
  moving_deadline deadline_;
  input_buffer input_;
  /// Handlers of events announce texts, also after the end of a reply to HEAD.
  output_queue output_;

  phase phase_ = phase::idle;
  std::string client_;
  /// A reply went out before.
  bool served_ = false;

  // Of the request under way.
  std::unique_ptr<request_reader> reader_;
  core::time_point began_;
  bool judged_ = false;
  gatekeeper::entry entry_;
  uint64_t held_bytes_ = 0;
  std::string method_;
  unsigned version_ = 11;
  unsigned status_ = 0;
  /// reply_message::ready of the reply that goes out.
  core::time_point ready_{};
  bool keep_alive_ = false;
  bool busy_ = false;
  std::weak_ptr<live_exchange> current_;
};

} // namespace atelier::runtime::http::detail
