// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/runtime/http/access.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http::detail {

/// Judges requests by their heads, before a body is read.
/// Threads: any.
class gatekeeper {
public:
  struct options {
    std::shared_ptr<const route_table> routes;
    std::shared_ptr<access> callers;
    /// Origins of pages that may use the APIs.
    std::vector<std::string> origins;
    /// Whether only this machine's programs are served. Then the Host header
    /// must name this machine; that of a page elsewhere does not, even if its
    /// name was made to point here.
    bool only_loopback_hosts = false;
    /// Random bits, for numbers of spans and names of requests.
    std::function<uint64_t()> draw;
  };

  /// The result of judging a head.
  struct entry {
    const route* to = nullptr;
    error_shape errors = error_shape::openai;
    /// The request's Origin header, if it is an allowed one.
    std::string origin;
    /// The traceparent, as in the request.
    std::string trace;
    /// The request's id, as in the request.
    std::string request_id;
    /// A reply in place of the route's answer.
    std::optional<reply_message> refused;
  };

  explicit gatekeeper(options with);

  /// Allows pages of these origins to use the APIs from now on.
  void allow_origins(std::vector<std::string> origins);

  /// Fills in the request's path, query, parts, trace, key and scope.
  /// @param target as in the request's first line
  entry judge(request_message& asked, const std::string& target,
              core::time_point now) const;

  /// Returns the format of errors of the API nearest to a target, which may be
  /// invalid.
  error_shape shape_for(std::string_view target) const;

private:
  bool is_allowed_origin(std::string_view origin) const;

  reply_message no_such_endpoint(const request_message& asked,
                                 error_shape how) const;

  std::optional<reply_message> judge_origin(const request_message& asked,
                                            const entry& so_far) const;

  reply_message options_reply(const request_message& asked, const entry& so_far,
                              const std::string& allowed) const;

  std::optional<reply_message> judge_key(request_message& asked,
                                         const entry& so_far,
                                         core::time_point now) const;

  options with_;
  mutable std::mutex mutex_;
  /// Guarded by the mutex.
  std::shared_ptr<const std::vector<std::string>> origins_;
};

} // namespace atelier::runtime::http::detail
