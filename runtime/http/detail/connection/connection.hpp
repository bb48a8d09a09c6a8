// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/connection/client_stream.hpp>
#include <atelier/runtime/http/detail/connection/incoming_request.hpp>
#include <atelier/runtime/http/detail/connection/input_buffer.hpp>
#include <atelier/runtime/http/detail/connection/live_exchange.hpp>
#include <atelier/runtime/http/detail/connection/moving_deadline.hpp>
#include <atelier/runtime/http/detail/connection/output_queue.hpp>
#include <atelier/runtime/http/detail/connection/reply_text.hpp>
#include <atelier/runtime/http/detail/connection/request_account.hpp>
#include <atelier/runtime/http/detail/connection/server_state.hpp>

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

/// Serves one connection: reads a request, passes it to `authentication` and
/// the handler, writes the reply, and reads the next request. While a request
/// is processed, the connection continues to read a little, to notice that its
/// client has disconnected.
///
/// Only its pending reads, writes and timer keep it alive. It has one timer,
/// whose deadline has a different meaning in each phase.
///
/// It owns one part for each concern (the client's stream, the input, the
/// output, the timer's deadline, the request that is read, and what is counted
/// of it), and the phase, which every transition touches.
/// Threads: any for the members marked so; the others run on the strand.
class connection : public std::enable_shared_from_this<connection> {
public:
  using socket = client_stream::socket;

  /// @param place the connection's seat in the peer table
  /// @param tls null: no TLS
  connection(socket x, std::shared_ptr<server_state> of, peer_table::seat place,
             std::shared_ptr<boost::asio::ssl::context> tls);

  ~connection();

  // These members can be called from any thread.

  void start();

  /// Sends the whole reply to the current request.
  void send(reply_message x);

  void begin_events();

  /// An event as sent over the wire.
  struct wire_event {
    /// The whole event, or what is before its shared data.
    std::string text;
    /// Null: none of it is shared.
    std::shared_ptr<shared_text> data;
    std::string after;

    size_t own_bytes() const {
      return text.size() + after.size();
    }
  };

  void event(wire_event x);

  /// Leaves the event out if too much waits to be read by all clients.
  void passing_event(wire_event x);

  void end_events();

  /// Handles an exchange that was dropped without an answer.
  void drop();

  /// Closes the connection if it is idle or in a handshake, otherwise after the
  /// reply.
  void wind_down();

  void close_soon();

  /// Closes the connection if its request came with a key that the server no
  /// longer has.
  void close_stranger();

private:
  enum class phase : uint8_t {
    handshake,
    /// Waits for a request's first byte.
    idle,
    reading,
    /// The handler processes the request.
    working,
    streaming,
    /// The last bytes of the answer are being written.
    writing,
    /// The last answer was sent. Further input is discarded.
    draining,
    closed
  };

  /// Runs `then(*this)` on the strand.
  template <class Function>
  void post(Function then);

  // Reading.
  void begin();
  void await_request();
  void read();
  void was_read(boost::system::error_code error, size_t bytes);
  void input_ended(bool orderly);
  /// Notices from now on when a client goes whose input is not read, or has
  /// ended.
  void watch();
  /// Sends the client something that it ignores: if it is gone, its system
  /// answers with an error.
  void probe();
  void take_in(std::string_view bytes);
  std::string_view feed(std::string_view bytes);
  void judge_head();
  void hand_over();

  /// Returns whether another request may follow the current one.
  bool may_ask_again() const {
    return !input_.ended() || input_.kept() > 0;
  }

  // Answering.
  reply_form form() const;
  void answer(reply_message x);
  /// Returns a refusal of what may be asked again in a second.
  reply_message busy_reply(std::string_view why) const;
  void refuse(reply_message x);
  void begin_stream();
  /// Sends an event that was offered to the output.
  void take_event(output_queue::verdict how, wire_event x);
  /// Ends the stream because its next event finds no room.
  void break_off();
  void finish_stream();
  /// Writes a text whose size was not announced before.
  void say(std::string text);
  void enqueue(std::string text);
  void enqueue(wire_event x);
  void send_heartbeat();
  void write();
  void was_written(boost::system::error_code error, size_t bytes);
  void all_written();
  void finish_reply();

  // Ending.
  void linger();
  void drain();
  void close();
  void close_account(unsigned status);

  // Time.
  void allow(core::timespan x);
  void allow_forever();
  void arm();
  void overdue();

  const std::shared_ptr<server_state> server_;
  /// The settings when the request began.
  std::shared_ptr<const config::http_settings> settings_;
  const peer_table::seat place_;
  client_stream stream_;
  boost::asio::steady_timer timer_;
  moving_deadline deadline_;
  input_buffer input_;
  /// Event handlers announce texts here, even after a reply to HEAD ended.
  output_queue output_;

  phase phase_ = phase::idle;
  /// The address at the other end, which may be that of a proxy.
  std::string client_;
  /// A reply was sent before.
  bool served_ = false;

  // State of the current request.
  incoming_request request_;
  request_account account_;
  authentication::entry entry_;
  unsigned version_ = 11;
  /// reply_message::ready of the reply that is being sent.
  core::time_point ready_{};
  bool keep_alive_ = false;
  /// Whether `watch` was called.
  bool watching_ = false;
  std::weak_ptr<live_exchange> current_;
};

} // namespace atelier::runtime::http::detail
