// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/runtime/http/access.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace atelier::runtime::http {

/// What a server counts about itself.
struct server_counts {
  uint64_t connections = 0;
  uint64_t open_connections = 0;
  uint64_t open_streams = 0;
  uint64_t requests = 0;
  /// By hundreds: [2] counts 2xx.
  uint64_t replies[6] = {};
  uint64_t refused_connections = 0;
  uint64_t timed_out = 0;
  uint64_t body_bytes_held = 0;
};

/// An HTTP/1.1 server over Asio: a few threads, any number of connections up to
/// a limit. It reads requests whole within limits and times, finds out who
/// asks, and calls the route's handler.
/// Threads: all members may be called from any thread.
class server {
public:
  struct options {
    config::http_settings settings;
    std::shared_ptr<const route_table> routes;
    std::shared_ptr<access> who;
    /// Called after each reply: method, route's pattern (empty where there is
    /// none), status, seconds since the request's first byte. A client that
    /// went before its reply has the status 499. May be empty; must not block.
    std::function<void(const std::string&, const std::string&, unsigned,
                       double)>
      done;
    /// Called after each reply with a moment `ready`: seconds from then until
    /// the last byte was given to the system. As `done`.
    std::function<void(double)> responded;
    /// How often a stream of events that rests shows a sign of life.
    core::timespan heartbeat = std::chrono::seconds{15};
    /// How long a connection that the server ends is still read from: a client
    /// that is cut off while it sends would not see its reply.
    core::timespan linger = std::chrono::seconds{5};
  };

  /// Binds and begins to answer.
  /// Errors: ec::bad_config (an address, certificate or key that cannot be; an
  ///         address beyond this machine without keys), ec::unavailable (the
  ///         address is taken, or is not this machine's), ec::io_failed.
  static core::result<std::unique_ptr<server>> start(options with);

  /// Stops at once.
  ~server();

  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// "http://127.0.0.1:7860", with the port that was really taken.
  std::string url() const;

  server_counts counts() const;

  /// Takes over limits, times and origins from now on, and the files of
  /// certificate and key for new connections; where and how it listens, and
  /// whether by TLS, stays. Requests under way keep what they began with.
  /// Errors: ec::bad_config (a certificate or key that cannot be); then nothing
  ///         has changed.
  core::result<void> renew(const config::http_settings& x);

  /// Has `work` run on one of the server's threads: for encoding and the like
  /// that belongs to no connection. Dropped once the server has stopped.
  void post(std::function<void()> work);

  /// Takes no new connection, closes idle ones, waits at most `grace` for
  /// exchanges under way, then stops: a connection whose exchange is not
  /// answered by then is closed. True where all were answered. Not for the
  /// server's own threads.
  bool stop(core::timespan grace);

private:
  class impl;
  explicit server(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::runtime::http
