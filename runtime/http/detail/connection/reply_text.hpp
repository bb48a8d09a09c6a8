// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/exchange.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

/// How a reply is sent.
struct reply_form {
  /// 10 or 11.
  unsigned version = 11;
  bool keep_alive = true;
  /// Whether only the head is sent, as for HEAD.
  bool head_only = false;
  /// Origin of another server's page that may read the reply; empty: none.
  std::string origin;
  /// The exchange's traceparent; empty: none.
  std::string trace;
  /// The exchange's request id; empty: none.
  std::string request_id;
};

/// Returns the head of a reply, with the empty line after it. Omits characters
/// in fields that would break a line.
/// @param body_bytes size of the body; none: the body is sent in chunks, or
///        ends with the connection
std::string head_text(const reply_message& x, const reply_form& how,
                      std::optional<uint64_t> body_bytes);

/// Returns one server-sent event.
/// Source: HTML, section 9.2 (server-sent events).
std::string event_text(std::string_view name, std::string_view data);

/// What stands around the data of an event.
struct event_frame {
  std::string before;
  std::string after;
};

/// Returns what stands around the data of a server-sent event that are one
/// line, as one chunk if events are sent in chunks.
event_frame frame_of(std::string_view name, uint64_t data_bytes, bool chunked);

/// Returns `text` as one chunk.
/// @pre not empty: an empty chunk would be the last one
std::string chunk_text(std::string_view text);

inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// Keeps proxies from closing an idle stream.
inline constexpr std::string_view heartbeat_event = ":\n\n";

} // namespace atelier::runtime::http::detail
