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
#include <string_view>

namespace atelier::runtime::http {

/// What a server counts about itself.
struct server_counts {
  uint64_t connections = 0;
  uint64_t open_connections = 0;
  uint64_t open_streams = 0;
  uint64_t requests = 0;
  /// The replies by hundreds of their status: [2] counts 2xx.
  uint64_t replies[6] = {};
  uint64_t refused_connections = 0;
  uint64_t timed_out = 0;
  uint64_t body_bytes_held = 0;
  uint64_t reply_bytes_held = 0;
};

/// What a log shows of a request.
struct answered_request {
  /// The address in request_message::client.
  std::string_view client;
  /// The name of the key; empty without one.
  std::string_view key;
  /// The client's word; empty if the head could not be read.
  std::string_view method;
  /// The path without its query, which may contain secrets; empty likewise.
  std::string_view path;
  /// 499 if the client left before its reply.
  unsigned status = 0;
  /// The bytes sent, with the head.
  uint64_t bytes = 0;
  /// Since the request's first byte.
  double seconds = 0;
  std::string_view request_id;
};

/// An HTTP/1.1 server based on Asio, with a few threads and a limited number of
/// connections. It reads whole requests within limits of size and time,
/// authenticates the caller, and calls the route's handler.
/// Threads: all members may be called from any thread.
class server {
public:
  struct options {
    config::http_settings settings;
    std::shared_ptr<const route_table> routes;
    std::shared_ptr<access> callers;
    /// Called after each reply with the method, the route's pattern (empty if
    /// no route matched), the status, and the seconds since the request's first
    /// byte. If the client left before its reply, the status is 499. It may be
    /// empty, and must not block.
    std::function<void(const std::string&, const std::string&, unsigned,
                       double)>
      done;
    /// Called after each reply that has a moment `ready`, with the seconds from
    /// then until the last byte was passed to the system. It may be empty, and
    /// must not block.
    std::function<void(double)> responded;
    /// Called with each request, once it is answered or its client has left. It
    /// may be empty, and must not block.
    std::function<void(const answered_request&)> log;
    /// How often an idle stream of events sends a sign of life.
    core::timespan heartbeat = std::chrono::seconds{15};
    /// How long the server continues to read from a connection that it ends: a
    /// client that is cut off while it sends would not see its reply.
    core::timespan linger = std::chrono::seconds{5};
    /// How many bytes of a reply a client must read within settings.idle, if so
    /// many are left.
    uint64_t pace_bytes = 256 << 10;
  };

  /// Binds and begins to answer. Fewer connections are allowed if the system's
  /// limit of open files is too low for all.
  /// Errors: ec::bad_config (an invalid address, certificate or key; an address
  ///         outside this machine without keys), ec::unavailable (the address
  ///         is taken, or does not belong to this machine), ec::io_failed.
  static core::result<std::unique_ptr<server>> start(options with);

  /// Stops at once.
  ~server();

  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Returns "http://127.0.0.1:7860", for example, with the port that was
  /// actually bound.
  std::string url() const;

  server_counts counts() const;

  /// Closes the connections whose requests came with a key that `callers` no
  /// longer has, after keys were replaced.
  void end_strangers();

  /// Applies new limits, times, origins and proxies from now on, and the files
  /// of certificate and key to new connections. The addresses, and the use of
  /// TLS, stay as they are. Requests in progress keep the settings with which
  /// they began.
  /// Errors: ec::bad_config (an invalid certificate or key); then nothing has
  ///         changed.
  core::result<void> renew(const config::http_settings& x);

  /// Runs `work` on one of the server's threads, for encoding and other work
  /// that belongs to no connection. It is dropped once the server has stopped.
  void post(std::function<void()> work);

  /// Accepts no new connection, closes idle ones, waits at most `grace` for
  /// exchanges in progress, then stops: a connection whose exchange is not
  /// answered by then is closed. Returns true if all were answered. Must not be
  /// called on the server's own threads.
  bool stop(core::timespan grace);

private:
  class impl;
  explicit server(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::runtime::http
