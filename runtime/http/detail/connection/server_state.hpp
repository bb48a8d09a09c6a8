// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/connection/authentication.hpp>
#include <atelier/runtime/http/detail/connection/byte_shares.hpp>
#include <atelier/runtime/http/detail/connection/peer_table.hpp>
#include <atelier/runtime/http/server.hpp>
#include <atelier/runtime/thread_offload.hpp>

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

/// A server's counters.
/// Threads: any.
struct tally {
  std::atomic<uint64_t> connections{0};
  std::atomic<uint64_t> open_connections{0};
  std::atomic<uint64_t> open_streams{0};
  std::atomic<uint64_t> requests{0};
  std::array<std::atomic<uint64_t>, 6> replies{};
  std::atomic<uint64_t> refused_connections{0};
  std::atomic<uint64_t> timed_out{0};
  const std::shared_ptr<byte_shares> bodies = std::make_shared<byte_shares>();
  const std::shared_ptr<byte_shares> replies_held =
    std::make_shared<byte_shares>();
};

/// The state that all connections of a server share. Connections keep it alive;
/// it keeps no connection alive.
struct server_state {
  server_state(server::options with, bool only_loopback_hosts)
    : heartbeat(with.heartbeat),
      linger(with.linger),
      pace_bytes(with.pace_bytes),
      done(std::move(with.done)),
      responded(std::move(with.responded)),
      log(std::move(with.log)),
      gate({std::move(with.routes), std::move(with.callers),
            with.settings.origins, only_loopback_hosts, draw,
            with.settings.trusted_proxies}),
      peers(std::make_shared<peer_table>(with.settings.connections_of_peer)),
      readers(std::make_unique<thread_offload>(with.settings.threads,
                                               with.settings.connections)),
      settings_(std::make_shared<const config::http_settings>(with.settings)),
      io(static_cast<int>(with.settings.threads)) {}

  /// Returns the current settings, which `renew` replaces.
  std::shared_ptr<const config::http_settings> settings() const {
    const std::shared_lock guard{settings_mutex_};
    return settings_;
  }

  void renew(const config::http_settings& x) {
    gate.allow_origins(x.origins);
    gate.trust(x.trusted_proxies);
    peers->allow(x.connections_of_peer);
    auto next = std::make_shared<const config::http_settings>(x);
    const std::unique_lock guard{settings_mutex_};
    settings_ = std::move(next);
  }

  /// Returns random bits from the system, because different servers must not
  /// create the same spans.
  static uint64_t draw() {
    thread_local std::random_device entropy;
    return uint64_t{entropy()} << 32 | entropy();
  }

  const core::timespan heartbeat;
  const core::timespan linger;
  const uint64_t pace_bytes;
  const std::function<void(const std::string&, const std::string&, unsigned,
                           double)>
    done;
  const std::function<void(double)> responded;
  const std::function<void(const answered_request&)> log;
  authentication gate;
  const std::shared_ptr<tally> counts = std::make_shared<tally>();
  const std::shared_ptr<peer_table> peers;

  /// True once no new work is accepted.
  std::atomic<bool> stopping{false};

  /// Posts `work` unless the server has ended. Work posted after the end would
  /// never run, and would keep alive what it holds.
  template <class Executor, class Work>
  void post(const Executor& to, Work work) {
    const std::shared_lock guard{posting};
    if (!ended)
      boost::asio::post(to, std::move(work));
  }

  std::shared_mutex posting;
  bool ended = false;

  /// The live connections. Each one adds and removes itself.
  std::mutex registry_mutex;
  std::set<connection*> registry;
  /// True once new connections must close at once.
  bool closing = false;

  /// Requests that are being processed or answered.
  std::mutex busy_mutex;
  std::condition_variable rest;
  size_t busy = 0;

  /// Reads large bodies. It ends before the routes whose handlers it runs.
  std::unique_ptr<thread_offload> readers;

private:
  mutable std::shared_mutex settings_mutex_;
  std::shared_ptr<const config::http_settings> settings_;

public:
  /// The last member, because the remaining work in its queue uses the others.
  boost::asio::io_context io;
};

} // namespace atelier::runtime::http::detail
