// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/exchange.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace atelier::test {

/// A reply of the server.
struct heard {
  unsigned status = 0;
  /// The names are in lower case.
  runtime::http::fields headers;
  std::string body;

  std::string field(std::string_view name) const {
    return std::string{runtime::http::find_field(headers, name)};
  }
};

/// A client that sends the given bytes unchanged to a port of this machine. It
/// waits for at most half a minute.
class plain_client {
public:
  /// @param tls makes a handshake and accepts any certificate
  explicit plain_client(uint16_t port, bool tls = false, int receive_bytes = 0);
  ~plain_client();

  plain_client(plain_client&&) noexcept;

  /// Returns false if the connection is closed.
  bool send(std::string_view bytes);

  /// Reads one reply; status 0 if none arrived. A reply without a length or
  /// chunks ends with the connection.
  /// @param head_only as for HEAD
  heard hear(bool head_only = false);

  /// Sends a request and reads the reply.
  heard ask(std::string_view bytes);

  /// Reads until `mark` arrived. Returns everything up to its end, or the bytes
  /// before the connection's end.
  std::string read_until(std::string_view mark);

  /// Reads and drops what comes next, up to 16 KiB.
  void read_some();

  /// Waits for the connection's end; returns true if no byte arrived before.
  bool at_end();

  /// Closes the sending half.
  void shut();

  /// Resets the connection.
  void reset();

  bool had_handshake() const;

  /// Returns the serial number of the server's certificate; 0 without one.
  int64_t serial() const;

private:
  struct channel;
  bool fill();
  std::string take(size_t bytes);

  std::unique_ptr<channel> channel_;
  std::string waiting_;
};

/// Returns a request with a host, and a length if it has a body.
std::string request(std::string_view method, std::string_view target,
                    std::string_view more = {}, std::string_view body = {});

} // namespace atelier::test
