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

/// Who asks, as the server found out.
enum class scope : uint8_t {
  /// Nobody known: what needs no key.
  anyone,
  user,
  admin,
};

/// Names and values, in the order of the message.
using fields = std::vector<std::pair<std::string, std::string>>;

/// Returns the value of the first field of that name; empty where none is.
std::string_view find_field(const fields& in, std::string_view name);

/// A request, read to its end.
struct request_message {
  /// As "GET".
  std::string method;
  /// Without the query, percent-decoded, valid UTF-8, begins with '/'.
  std::string path;
  /// Percent-decoded.
  fields query;
  /// Names in lower case.
  fields headers;
  std::string body;
  /// What the route's pattern names in braces.
  fields parts;
  /// The other end's address, for logs.
  std::string client;
  /// The W3C traceparent of this exchange, with a span of this server's; empty
  /// where the client sent none that is valid.
  std::string trace;
  /// The name of this exchange, as x-request-id in its reply.
  std::string request_id;
  /// The key's name; empty where none was asked for.
  std::string key;
  scope who = scope::anyone;
  /// When its last byte was there.
  core::time_point received{};
};

struct reply_message {
  unsigned status = 200;
  std::string content_type = "application/json";
  fields headers;
  std::string body;
  /// When what it tells of was there, where somebody counts how long a reply
  /// takes from then on; the clock's begin: nobody.
  core::time_point ready{};
};

/// One request and its answer: either one reply, or a stream of events that is
/// ended. What comes after that, and after the client went, is dropped.
/// Threads: all members but drop_body may be called from any thread; none
/// waits.
class exchange {
public:
  virtual ~exchange() = default;

  virtual const request_message& asked() const = 0;

  /// Gives back the memory of the request's body, which has been read:
  /// asked().body is empty from then on. Before an answer, and on the thread
  /// that reads the body.
  virtual void drop_body() = 0;

  virtual void reply(reply_message x) = 0;

  /// Begins a stream of server-sent events, with status 200.
  virtual void begin_events() = 0;

  /// One event; without a name only its data. A client that reads so slowly
  /// that more than a limit waits for it is disconnected.
  virtual void event(std::string_view name, std::string_view data) = 0;

  virtual void end_events() = 0;

  /// Has `then` called once, when the client goes away before its answer was
  /// complete; at once where it did already. Replaces what was set before.
  virtual void on_gone(std::function<void()> then) = 0;
};

/// Answers an exchange, now or later. Must not block. What it throws is
/// answered with status 500.
using handler = std::function<void(std::shared_ptr<exchange>)>;

} // namespace atelier::runtime::http
