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
    : heartbeat(with.heartbeat),
      linger(with.linger),
      done(std::move(with.done)),
      responded(std::move(with.responded)),
      gate({std::move(with.routes), std::move(with.who), with.settings.origins,
            only_loopback_hosts, draw}),
      peers(std::make_shared<peer_table>(with.settings.connections_of_peer)),
      settings_(std::make_shared<const config::http_settings>(with.settings)),
      io(static_cast<int>(with.settings.threads)) {}

  /// Those of now: `renew` replaces them.
  std::shared_ptr<const config::http_settings> settings() const {
    const std::shared_lock guard{settings_mutex_};
    return settings_;
  }

  void renew(const config::http_settings& x) {
    gate.allow_origins(x.origins);
    peers->allow(x.connections_of_peer);
    auto next = std::make_shared<const config::http_settings>(x);
    const std::unique_lock guard{settings_mutex_};
    settings_ = std::move(next);
  }

  /// From the system: spans of different servers must not be the same.
  static uint64_t draw() {
    thread_local std::random_device entropy;
    return uint64_t{entropy()} << 32 | entropy();
  }

  const core::timespan heartbeat;
  const core::timespan linger;
  const std::function<void(const std::string&, const std::string&, unsigned,
                           double)>
    done;
  const std::function<void(double)> responded;
  gatekeeper gate;
  const std::shared_ptr<tally> counts = std::make_shared<tally>();
  const std::shared_ptr<peer_table> peers;

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

private:
  mutable std::shared_mutex settings_mutex_;
  std::shared_ptr<const config::http_settings> settings_;

public:
  /// Last: what its queue holds at the end uses the rest.
  boost::asio::io_context io;
};

} // namespace atelier::runtime::http::detail
