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

/// Why a request is rejected without further processing.
struct refusal {
  unsigned status = 400;
  std::string code;
  std::string text;
};

/// Continues to read, but discards the body.
class request_reader {
public:
  struct limits {
    uint64_t head_bytes = 0;
    uint64_t body_bytes = 0;
    /// Number of fields in the head.
    uint32_t fields = 128;
  };

  enum class stage : uint8_t {
    head,
    /// The head is complete: its fields, target and declared length are known.
    body,
    done,
    failed
  };

  explicit request_reader(limits within);
  ~request_reader();

  request_reader(const request_reader&) = delete;
  request_reader& operator=(const request_reader&) = delete;

  /// Consumes bytes up to the end of the head, then up to the end of the body,
  /// and returns their number. The caller passes the rest again, with the bytes
  /// that follow. If it consumes none and the stage stays the same, it needs
  /// more bytes.
  /// @pre neither done nor failed
  size_t feed(std::string_view bytes);

  stage where() const;

  /// Returns the reason for a failure, in stage `failed`.
  const refusal& why() const;

  /// Returns the target as the first line has it, from stage `body` on.
  const std::string& target() const;

  /// Returns the method, the fields and the body so far; the caller may move
  /// them.
  request_message& message();

  /// Returns 10 or 11.
  unsigned version() const;

  /// Returns whether the client allows the connection to stay open.
  bool keeps_alive() const;

  bool expects_continue() const;

  /// Returns the body's length from the head; none if the body is sent in
  /// chunks.
  std::optional<uint64_t> declared_bytes() const;

  /// Reads on, but keeps nothing of the body.
  void discard();

private:
  class parser;
  std::unique_ptr<parser> parser_;
};

} // namespace atelier::runtime::http::detail
