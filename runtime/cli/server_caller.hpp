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

/// The address of a running server, and the parameters of requests to it.
struct server_options {
  std::string url;
  std::optional<std::string> key;
  /// Maximum number of requests in flight; more wait in this program.
  uint32_t connections = 256;
  /// Maximum wait for the reply to one request.
  core::timespan patience = std::chrono::minutes{10};
  /// PEM file of the trusted certificates; if empty, this machine's.
  std::string authorities;
};

/// Sends requests to one server, with its key.
/// Threads: any; calls block.
class server_caller {
public:
  explicit server_caller(server_options options);

  /// Sends a request and returns the reply. A body is sent as JSON.
  /// Errors: those of http::ask_server.
  core::result<http::client_reply> ask(std::string_view method,
                                       std::string_view path,
                                       std::string body = {},
                                       http::fields headers = {}) const;

  /// Checks that a server of this kind runs at the address.
  /// Errors: ec::invalid_argument (the address), ec::unavailable (no server
  ///         answers, or one of another kind), those of the reply to `GET
  ///         /health`.
  core::result<void> check() const;

  const server_options& options() const {
    return options_;
  }

private:
  server_options options_;
};

/// Returns the failure that a reply describes.
failure failure_in(const http::client_reply& reply);

} // namespace atelier::runtime::cli
