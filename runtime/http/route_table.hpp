// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/exchange.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http {

/// How an API words its errors.
enum class error_shape : uint8_t {
  /// {"error": {"message", "type", "param", "code"}}
  openai,
  /// {"error", "detail", "body", "errors"}
  a1111,
};

/// One route of an API.
struct route {
  std::string method;
  /// For example "/v1/jobs/{id}"; a name in braces stands for one segment.
  std::string pattern;
  /// The minimum scope that it needs if keys are required.
  scope needs = scope::user;
  error_shape errors = error_shape::openai;
  handler answer;
  /// Whether the handler reads the request's body. If not, the body is read and
  /// dropped. GET, HEAD and DELETE have none.
  bool takes_body = true;
  /// Whether it only follows or ends jobs. Such requests do not count as a
  /// key's requests per minute but apart, so that whoever waits for an image
  /// does not use them up.
  bool follows = false;
};

/// The handlers of all routes. The table is filled before the server starts.
/// Threads: any number may read it at the same time.
class route_table {
public:
  /// Adds a route.
  /// @pre no route has that method and pattern
  void add(route x);

  struct match {
    /// Null if no route was found.
    const route* found = nullptr;
    fields parts;
    /// If only the method is wrong, the methods that exist, for example "GET,
    /// POST".
    std::string allowed;
    /// The format of errors; that of neighbouring routes if none was found.
    error_shape errors = error_shape::openai;
  };

  /// Finds the route of a method and path. HEAD finds the route of GET. Empty
  /// segments do not count: "/v1//jobs/" is "/v1/jobs".
  match find(std::string_view method, std::string_view asked) const;

  /// Returns the patterns of routes that are spelled almost as the path or end
  /// like it, nearest first, without duplicates.
  std::vector<std::string> nearest(std::string_view asked, size_t most) const;

  const std::vector<route>& all() const {
    return routes_;
  }

private:
  std::vector<route> routes_;
};

} // namespace atelier::runtime::http
