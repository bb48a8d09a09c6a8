// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/runtime/http/exchange.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace atelier::runtime::http {

/// A request of a command-line program to a server.
struct client_request {
  std::string method = "GET";
  /// "http://host[:port]/path?query", or https.
  std::string url;
  fields headers;
  std::string body;
  /// The time limit from the look-up of the host to the reply's last byte.
  core::timespan patience = std::chrono::seconds{10};
  /// The maximum size of the reply's body.
  uint64_t most_bytes = 256ull << 20;
  /// Whether any certificate is accepted over TLS. This is only for this
  /// machine's own server, which no other program can impersonate.
  bool any_certificate = false;
  /// Whether a key may be sent to another machine without TLS, where anyone on
  /// the way can read it.
  bool key_in_clear = false;
  /// A PEM file of the certificates to trust instead of this machine's; empty:
  /// this machine's, or those that SSL_CERT_FILE names.
  std::string authorities;
};

struct client_reply {
  unsigned status = 0;
  /// Names in lower case.
  fields headers;
  std::string body;
};

/// Sends a request and waits for the whole reply. Each call uses one
/// connection.
/// Errors: ec::invalid_argument (the address, the authorities, a key that would
///         be seen), ec::unavailable
///         (no server answers there, or not by TLS that can be trusted: the
///         text has the reason and a remedy), ec::deadline_missed,
///         ec::io_failed (the reply breaks off or is invalid).
/// Threads: any; it blocks.
core::result<client_reply> ask_server(const client_request& what);

} // namespace atelier::runtime::http
