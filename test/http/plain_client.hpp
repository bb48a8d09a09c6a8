// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/exchange.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace atelier::test {

/// What a server said.
struct heard {
  unsigned status = 0;
  /// Names in lower case.
  runtime::http::fields headers;
  std::string body;

  std::string field(std::string_view name) const {
    return std::string{runtime::http::find_field(headers, name)};
  }
};

/// A client that sends what it is told, byte for byte, to a port of this
/// machine. Waits for half a minute at most.
class plain_client {
public:
  /// @param tls with a handshake, believing any certificate
  explicit plain_client(uint16_t port, bool tls = false, int receive_bytes = 0);
  ~plain_client();

  plain_client(plain_client&&) noexcept;

  /// False where the connection is gone.
  bool send(std::string_view bytes);

  /// Reads one reply; status 0 where none came. Without a length or chunks it
  /// ends with the connection.
  /// @param head_only as for HEAD
  heard hear(bool head_only = false);

  /// Sends and hears.
  heard ask(std::string_view bytes);

  /// Reads until `mark` came; returns all up to its end, or what came before
  /// the connection's end.
  std::string read_until(std::string_view mark);

  /// Waits for the connection's end; true where nothing came before.
  bool at_end();

  /// Says that nothing more will be sent.
  void shut();

  /// Goes away without a word.
  void reset();

  bool had_handshake() const;

  /// The serial number of the server's certificate; 0 without one.
  int64_t serial() const;

private:
  struct channel;
  bool fill();
  std::string take(size_t bytes);

  std::unique_ptr<channel> channel_;
  std::string waiting_;
};

/// Returns a request with a host, and a length where it has a body.
std::string request(std::string_view method, std::string_view target,
                    std::string_view more = {}, std::string_view body = {});

} // namespace atelier::test
