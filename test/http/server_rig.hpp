// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/sha256.hpp>
#include <atelier/runtime/http/server.hpp>

#include <boost/test/unit_test.hpp>
#include <http/plain_client.hpp>
#include <support/eventually.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

/// Keeps a handler's exchanges, for the test to answer.
class kept_exchanges {
public:
  runtime::http::handler keep() {
    return [this](std::shared_ptr<runtime::http::exchange> x) {
      const std::lock_guard guard{mutex_};
      all_.push_back(std::move(x));
      came_.notify_all();
    };
  }

  /// Waits for the next exchange.
  std::shared_ptr<runtime::http::exchange> next() {
    std::unique_lock guard{mutex_};
    const bool there = came_.wait_for(guard, std::chrono::seconds{30},
                                      [&] { return !all_.empty(); });
    BOOST_TEST_REQUIRE(there, "no request came");
    auto x = std::move(all_.front());
    all_.erase(all_.begin());
    return x;
  }

private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::shared_ptr<runtime::http::exchange>> all_;
};

/// A server on a free port of this machine, with some routes.
struct server_rig {
  server_rig() {
    with.settings.listen = "127.0.0.1:0";
    add("GET", "/hello", [](const auto& x) {
      x->reply({200, "text/plain", {}, "hello"});
    });
    add("POST", "/echo", [](const auto& x) {
      x->reply({200, "text/plain", {}, x->asked().body});
    });
    add("GET", "/kept", kept.keep());
    add("POST", "/kept", kept.keep());
  }

  void add(std::string method, std::string pattern,
           runtime::http::handler answer,
           runtime::http::scope needs = runtime::http::scope::user) {
    routes->add({std::move(method), std::move(pattern), needs,
                 runtime::http::error_shape::openai, std::move(answer)});
  }

  void start() {
    with.routes = routes;
    auto started = runtime::http::server::start(with);
    if (!started)
      BOOST_FAIL(started.why().text);
    server = std::move(*started);
    const auto url = server->url();
    port = static_cast<uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
  }

  plain_client client() const {
    return plain_client{port};
  }

  /// Sends a request over its own connection.
  heard ask(std::string_view bytes) const {
    return client().ask(bytes);
  }

  std::shared_ptr<runtime::http::route_table> routes =
    std::make_shared<runtime::http::route_table>();
  runtime::http::server::options with;
  kept_exchanges kept;
  std::unique_ptr<runtime::http::server> server;
  uint16_t port = 0;
};

} // namespace atelier::test
