// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/strand.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace atelier::runtime::http::detail {

/// The way to a client: a socket, with TLS over it where there is some. Knows
/// nothing of what goes over it.
/// Threads: those of its executor, one at a time.
class client_stream {
public:
  using executor = boost::asio::strand<boost::asio::io_context::executor_type>;
  using socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, executor>;

  /// @param tls null: none
  client_stream(socket x, std::shared_ptr<boost::asio::ssl::context> tls)
    : socket_(std::move(x)), tls_context_(std::move(tls)) {}

  executor get_executor() {
    return socket_.get_executor();
  }

  /// Whether TLS goes over it.
  bool secure() const {
    return tls_context_ != nullptr;
  }

  /// Has small texts go out at once, and returns the client's address;
  /// "0.0.0.0" where it went.
  std::string begin();

  /// @pre secure()
  template <class Handler>
  void shake_hands(Handler then) {
    tls_ = std::make_unique<boost::asio::ssl::stream<socket&>>(socket_,
                                                               *tls_context_);
    tls_->async_handshake(boost::asio::ssl::stream_base::server,
                          std::move(then));
  }

  template <class Handler>
  void read(std::span<char> to, Handler then) {
    const auto buffer = boost::asio::buffer(to.data(), to.size());
    if (tls_ && !bare_)
      tls_->async_read_some(buffer, std::move(then));
    else
      socket_.async_read_some(buffer, std::move(then));
  }

  template <class Handler>
  void write(std::string_view text, Handler then) {
    const auto buffer = boost::asio::buffer(text.data(), text.size());
    if (tls_)
      tls_->async_write_some(buffer, std::move(then));
    else
      socket_.async_write_some(buffer, std::move(then));
  }

  /// Calls `then` when the socket has an error, such as a reset by the client.
  template <class Handler>
  void await_error(Handler then) {
    socket_.async_wait(socket::wait_error, std::move(then));
  }

  /// Says the end as TLS does.
  /// @pre hands were shaken
  template <class Handler>
  void end_tls(Handler then) {
    tls_->async_shutdown(std::move(then));
  }

  /// Nothing more is written. What is read from now on comes past TLS, only to
  /// see the client's end.
  void end_output();

  void close();

private:
  socket socket_;
  std::shared_ptr<boost::asio::ssl::context> tls_context_;
  std::unique_ptr<boost::asio::ssl::stream<socket&>> tls_;
  bool bare_ = false;
};

} // namespace atelier::runtime::http::detail
