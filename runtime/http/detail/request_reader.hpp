// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/exchange.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

/// Why a request is answered without being looked at further.
struct refusal {
  unsigned status = 400;
  std::string code;
  std::string text;
};

/// Reads one request of HTTP/1.0 or 1.1 from bytes as they come. What two
/// readers could understand differently is refused: several or odd lengths,
/// a length beside an encoding, no host, an empty one or two of them, fields
/// that are folded or repeated where one is meant, lines that end otherwise
/// than by CR LF, sizes of chunks with more than 16 digits. Source: RFC 9112,
/// sections 2.2, 3.2, 5.2, 6.3 and 7.1. Threads: one at a time.
class request_reader {
public:
  struct limits {
    uint64_t head_bytes = 0;
    uint64_t body_bytes = 0;
    /// Fields of the head.
    uint32_t fields = 128;
  };

  enum class stage : uint8_t {
    head,
    /// The head is there: its fields, target and declared length.
    body,
    done,
    failed
  };

  explicit request_reader(limits within);
  ~request_reader();

  request_reader(const request_reader&) = delete;
  request_reader& operator=(const request_reader&) = delete;

  /// Takes bytes up to the end of the head, then up to that of the body;
  /// returns how many. The others come again, with those that follow them. Once
  /// it takes none and the stage is the same, it needs more.
  /// @pre neither done nor failed
  size_t feed(std::string_view bytes);

  stage where() const;

  /// Once it failed.
  const refusal& why() const;

  /// As the first line has it. From `body` on.
  const std::string& target() const;

  /// The method, the fields and the body so far; the caller may take them.
  request_message& message();

  /// 10 or 11.
  unsigned version() const;

  /// Whether the client lets the connection live on.
  bool keeps_alive() const;

  bool expects_continue() const;

  /// What the head says of the body's length; none where it comes in chunks.
  std::optional<uint64_t> declared_bytes() const;

  /// Reads on, but keeps nothing of the body.
  void discard();

private:
  class parser;
  std::unique_ptr<parser> parser_;
};

} // namespace atelier::runtime::http::detail
