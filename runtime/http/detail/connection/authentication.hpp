// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/network.hpp>
#include <atelier/core/time.hpp>
#include <atelier/runtime/http/access.hpp>
#include <atelier/runtime/http/detail/wrong_keys.hpp>
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
class authentication {
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
    /// Addresses and networks of proxies that are believed.
    std::vector<std::string> proxies = {};
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
    /// The hash of the caller's key; empty without one.
    std::string key_sha256;
    /// What a log shows of the request, as in the request, also once it was
    /// handed over.
    std::string client;
    std::string path;
    std::string key;
    /// A reply in place of the route's answer.
    std::optional<reply_message> refused;
  };

  explicit authentication(options with);

  /// Allows pages of these origins to use the APIs from now on.
  void allow_origins(std::vector<std::string> origins);

  /// Believes these proxies from now on.
  /// @pre each is an address or a network
  void trust(const std::vector<std::string>& proxies);

  /// Whether the key with this hash is still one of the server's.
  bool knows_key(std::string_view sha256) const {
    return with_.callers->knows(sha256);
  }

  /// Fills in the request's path, query, parts, trace, host, scheme, key and
  /// scope, and its client if a trusted proxy names it.
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

  std::optional<reply_message> judge_key(request_message& asked, entry& so_far,
                                         core::time_point now) const;

  std::optional<std::string> read_proxies(request_message& asked) const;

  entry look_up(request_message& asked, const std::string& target,
                core::time_point now) const;

  options with_;
  mutable std::mutex mutex_;
  /// Guarded by the mutex, like the next member.
  std::shared_ptr<const std::vector<std::string>> origins_;
  std::shared_ptr<const std::vector<config::network>> proxies_;
  /// It has its own lock.
  const std::shared_ptr<wrong_keys> wrong_keys_ =
    std::make_shared<wrong_keys>();
};

} // namespace atelier::runtime::http::detail
