// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/gatekeeper.hpp>
#include <atelier/runtime/http/detail/peer_table.hpp>
#include <atelier/runtime/http/server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <shared_mutex>
#include <utility>

namespace atelier::runtime::http::detail {

class connection;

/// What a server counts. Lives on with exchanges that outlive it.
/// Threads: any.
struct tally {
  std::atomic<uint64_t> connections{0};
  std::atomic<uint64_t> open_connections{0};
  std::atomic<uint64_t> open_streams{0};
  std::atomic<uint64_t> requests{0};
  std::array<std::atomic<uint64_t>, 6> replies{};
  std::atomic<uint64_t> refused_connections{0};
  std::atomic<uint64_t> timed_out{0};
  std::atomic<uint64_t> body_bytes_held{0};
};

/// What all connections of a server share. Connections keep it alive; it keeps
/// none of them.
struct server_state {
  server_state(server::options with, bool only_loopback_hosts)
    : settings(std::move(with.settings)),
      heartbeat(with.heartbeat),
      linger(with.linger),
      done(std::move(with.done)),
      gate({std::move(with.routes), std::move(with.who), settings.origins,
            only_loopback_hosts, draw}),
      io(static_cast<int>(settings.threads)) {}

  /// From the system: spans of different servers must not be the same.
  static uint64_t draw() {
    thread_local std::random_device entropy;
    return uint64_t{entropy()} << 32 | entropy();
  }

  const config::http_settings settings;
  const core::timespan heartbeat;
  const core::timespan linger;
  const std::function<void(const std::string&, const std::string&, unsigned,
                           double)>
    done;
  const gatekeeper gate;
  const std::shared_ptr<tally> counts = std::make_shared<tally>();
  const std::shared_ptr<peer_table> peers =
    std::make_shared<peer_table>(settings.connections_of_peer);

  /// No new work is taken.
  std::atomic<bool> stopping{false};

  /// Has `work` run, unless the server has ended: what would be posted then
  /// would never run, and keep alive what it holds.
  template <class Executor, class Work>
  void post(const Executor& to, Work work) {
    const std::shared_lock guard{posting};
    if (!ended)
      boost::asio::post(to, std::move(work));
  }

  std::shared_mutex posting;
  bool ended = false;

  /// Connections that live. Each one enters and leaves by itself.
  std::mutex registry_mutex;
  std::set<connection*> registry;
  /// No connection lives on that enters now.
  bool closing = false;

  /// Requests that are worked on or answered.
  std::mutex busy_mutex;
  std::condition_variable rest;
  size_t busy = 0;

  /// Last: what its queue holds at the end uses the rest.
  boost::asio::io_context io;
};

} // namespace atelier::runtime::http::detail
