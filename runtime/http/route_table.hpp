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

/// One way in.
struct route {
  std::string method;
  /// As "/v1/jobs/{id}"; a name in braces stands for one segment.
  std::string pattern;
  /// The least that it needs where keys are asked for.
  scope needs = scope::user;
  error_shape errors = error_shape::openai;
  handler answer;
};

/// Which handler answers what. Filled before the server starts.
/// Threads: any number may look at the same time.
class route_table {
public:
  /// @pre no route of that method and pattern is there
  void add(route x);

  struct match {
    /// Null where there is none.
    const route* found = nullptr;
    fields parts;
    /// Where only the method is wrong: those that there are, as "GET, POST".
    std::string allowed;
    /// That of the routes beside it, where none is found.
    error_shape errors = error_shape::openai;
  };

  /// HEAD finds what GET does.
  match find(std::string_view method, std::string_view path) const;

  /// Returns the patterns of routes whose paths begin most like this one, the
  /// nearest first, each once.
  std::vector<std::string> nearest(std::string_view path, size_t most) const;

  const std::vector<route>& all() const {
    return routes_;
  }

private:
  std::vector<route> routes_;
};

} // namespace atelier::runtime::http
