// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/runtime/cli/service.hpp>
#include <atelier/runtime/http/client.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::runtime::cli {

/// Where a running server is, and how it is asked.
struct server_options {
  std::string url;
  std::optional<std::string> key;
  /// Most requests that are asked at a time; more wait here.
  uint32_t connections = 256;
  /// Until the reply to one of them.
  core::timespan patience = std::chrono::minutes{10};
  /// PEM file of the certificates that are trusted; empty: this machine's.
  std::string authorities;
};

/// Asks one server, with its key.
/// Threads: any; it blocks.
class server_caller {
public:
  explicit server_caller(server_options options);

  /// Asks; a body goes as JSON.
  /// Errors: those of http::ask_server.
  core::result<http::client_reply> ask(std::string_view method,
                                       std::string_view path,
                                       std::string body = {},
                                       http::fields headers = {}) const;

  /// Finds out whether a server of this kind is there.
  /// Errors: ec::invalid_argument (the address), ec::unavailable (nobody is
  ///         there, or no server of this kind), those of the reply to
  ///         GET /health.
  core::result<void> check() const;

  const server_options& options() const {
    return options_;
  }

private:
  server_options options_;
};

/// Returns what a reply says went wrong.
failure failure_in(const http::client_reply& reply);

} // namespace atelier::runtime::cli
