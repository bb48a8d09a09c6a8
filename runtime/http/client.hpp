// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/runtime/http/exchange.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace atelier::runtime::http {

/// What a program of the command line asks a server.
struct client_request {
  std::string method = "GET";
  /// "http://host[:port]/path?query", or https.
  std::string url;
  fields headers;
  std::string body;
  /// From the look-up of the host to the reply's last byte.
  core::timespan patience = std::chrono::seconds{10};
  /// Largest body of the reply.
  uint64_t most_bytes = 256ull << 20;
  /// Over TLS, whether any certificate will do: for this machine's own server
  /// alone, which nobody else can stand in for.
  bool any_certificate = false;
  /// PEM file of the certificates that are trusted instead of this machine's;
  /// empty: this machine's, or those that SSL_CERT_FILE names.
  std::string authorities;
};

struct client_reply {
  unsigned status = 0;
  /// Names in lower case.
  fields headers;
  std::string body;
};

/// Asks, and waits for the whole reply. One connection a call.
/// Errors: ec::invalid_argument (the address, the authorities), ec::unavailable
///         (nobody answers there, or not by TLS that can be trusted: the text
///         has the reason and a remedy), ec::deadline_missed, ec::io_failed
///         (the reply breaks off, or is none).
/// Threads: any; it blocks.
core::result<client_reply> ask_server(const client_request& what);

} // namespace atelier::runtime::http
