// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::runtime::http {

namespace detail {
class shared_text;
}

/// The rights of the caller, as the server established them.
enum class scope : uint8_t {
  /// An unknown caller, for routes that need no key.
  anyone,
  user,
  admin,
};

/// Names and values, in the order of the message.
using fields = std::vector<std::pair<std::string, std::string>>;

/// Returns the value of the first field of that name; empty if none exists.
std::string_view find_field(const fields& in, std::string_view name);

/// A request that was read completely.
struct request_message {
  /// For example "GET".
  std::string method;
  /// The path without the query: percent-decoded, valid UTF-8, beginning with
  /// '/'.
  std::string path;
  /// Percent-decoded.
  fields query;
  /// Names in lower case.
  fields headers;
  std::string body;
  /// The segments that the route's pattern names in braces.
  fields parts;
  /// The address of the client, for logs and shares: that of the connection, or
  /// the one that a trusted proxy names.
  std::string client;
  /// The host by which the client calls this server, perhaps with a port: the
  /// Host field, or what a trusted proxy says.
  std::string host;
  /// "http" or "https" if a trusted proxy says which of them the client uses;
  /// otherwise empty.
  std::string scheme;
  /// The W3C traceparent of this exchange, with a span of this server; empty if
  /// the client sent no valid one.
  std::string trace;
  /// The name of this exchange, sent as x-request-id in its reply.
  std::string request_id;
  /// The name of the key; empty if no key was required.
  std::string key;
  scope caller = scope::anyone;
  /// When its last byte arrived.
  core::time_point received{};
};

struct reply_message {
  unsigned status = 200;
  std::string content_type = "application/json";
  fields headers;
  std::string body;
  /// When the content of the reply was ready, if the time from then to the
  /// reply's end is measured; the clock's epoch if it is not.
  core::time_point ready{};
};

/// One request and its answer: either one reply, or a stream of events with an
/// end. Anything sent after that, or after the client has left, is dropped.
/// Threads: all members except drop_body may be called from any thread; none
/// waits.
class exchange {
public:
  virtual ~exchange() = default;

  virtual const request_message& asked() const = 0;

  /// Releases the memory of the request's body after it was read: from then on
  /// asked().body is empty. Must be called before an answer, on the thread that
  /// reads the body.
  virtual void drop_body() = 0;

  virtual void reply(reply_message x) = 0;

  /// Begins a stream of server-sent events, with status 200.
  virtual void begin_events() = 0;

  /// Sends one event; without a name only its data. A client is disconnected if
  /// it reads so slowly that its unsent data exceeds a limit. If too much waits
  /// to be read by all clients, the stream ends with the event "error" in place
  /// of a large event.
  virtual void event(std::string_view name, std::string_view data) = 0;

  /// Sends one event whose data other exchanges send, too: the data are kept,
  /// and counted among the waiting replies, once for all of them.
  /// @param data not null; one line
  virtual void share_event(std::string_view name,
                           std::shared_ptr<detail::shared_text> data);

  /// Sends one event that a later one replaces: it is left out if too much
  /// waits to be read.
  virtual void passing_event(std::string_view name, std::string_view data);

  /// Returns how many bytes of events may wait until the client reads them: a
  /// stream that begins with more ends there.
  virtual uint64_t unread_limit() const {
    return UINT64_MAX;
  }

  virtual void end_events() = 0;

  /// Calls `then` once if the client leaves before its answer is complete; at
  /// once if it has already left. Replaces an earlier callback.
  virtual void on_gone(std::function<void()> then) = 0;
};

/// Answers an exchange, now or later. It must not block, but may take long to
/// read a large body: then it is called on a thread for large bodies. If it
/// throws, the reply has status 500.
using handler = std::function<void(std::shared_ptr<exchange>)>;

} // namespace atelier::runtime::http
