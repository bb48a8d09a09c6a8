// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mutator.hpp"
#include "strict_images.hpp"
#include <atelier/config/settings.hpp>
#include <atelier/runtime/http/detail/connection/authentication.hpp>
#include <atelier/runtime/http/doors.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace atelier::test {

/// All HTTP APIs behind the readers of a connection, without its socket.
/// Threads: one.
class fuzzed_door {
public:
  /// @param keys whether a key is required: a user's "apple", or an admin's
  ///        "plum" or "pear", of which the last has 600 requests per minute
  explicit fuzzed_door(bool keys = false);

  /// The outcome of one request.
  struct outcome {
    /// 0 if the request was incomplete.
    unsigned status = 0;
    /// The fault of the reply, or an empty string.
    std::string fault;
  };

  /// Sends bytes in pieces, as they may arrive over a network.
  outcome say(std::string_view bytes, mutator& cuts);

  /// Returns the number of series at /metrics.
  size_t series() const;

  /// Sends a body with a valid head.
  outcome post(std::string_view path, std::string_view type,
               std::string_view body, mutator& cuts);

  /// Accepts work again after a request that ended that.
  void end_drain() {
    condition_->drain(false);
  }

  static config::settings settings();

  const runtime::http::doors& all() const {
    return doors_;
  }

private:
  /// Does the same as `say`, but counts nothing; sets the method and the
  /// pattern by which the server would count the request.
  outcome have_answered(std::string_view bytes, mutator& cuts,
                        std::string& method, std::string& pattern);

  outcome hand_over(const runtime::http::detail::authentication::entry& to,
                    runtime::http::request_message asked);

  const config::settings settings_ = settings();
  std::shared_ptr<runtime::http::health> condition_;
  runtime::http::doors doors_;
  std::unique_ptr<runtime::http::detail::authentication> gate_;
  uint64_t count_ = 0;
};

/// Returns the fault of a reply to a good or bad input, or an empty string. A
/// correct reply has no status 5xx (except 501 and 505, which name features
/// that this server lacks), a head without control characters, and, from 400
/// on, a body in the API's error shape.
std::string fault_of(const runtime::http::reply_message& x,
                     runtime::http::error_shape how);

} // namespace atelier::test
