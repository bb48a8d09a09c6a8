// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mutator.hpp"
#include "strict_images.hpp"
#include <atelier/config/settings.hpp>
#include <atelier/runtime/http/detail/gatekeeper.hpp>
#include <atelier/runtime/http/doors.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace atelier::test {

/// All doors behind the readers that a connection has, without its socket.
/// Threads: one.
class fuzzed_door {
public:
  /// @param keys whether "apple" is asked for as a key
  explicit fuzzed_door(bool keys = false);

  /// What came of one request.
  struct outcome {
    /// 0: it was not sent to its end.
    unsigned status = 0;
    /// What is wrong with the reply; empty: nothing.
    std::string fault;
  };

  /// Sends bytes in pieces as they may come over a wire.
  outcome say(std::string_view bytes, mutator& cuts);

  /// Sends a body with a head that is right.
  outcome post(std::string_view path, std::string_view type,
               std::string_view body, mutator& cuts);

  static config::settings settings();

  const runtime::http::doors& all() const {
    return doors_;
  }

private:
  outcome hand_over(const runtime::http::detail::gatekeeper::entry& to,
                    runtime::http::request_message asked);

  const config::settings settings_ = settings();
  std::shared_ptr<runtime::http::health> condition_;
  runtime::http::doors doors_;
  std::unique_ptr<runtime::http::detail::gatekeeper> gate_;
  uint64_t count_ = 0;
};

/// Returns what is wrong with a reply to bad input or good; empty: nothing.
/// Right is: no 5xx (but 501 and 505, which say what this server does not
/// speak), a head without control characters, and, from
/// 400 on, a body in the error shape of the API.
std::string fault_of(const runtime::http::reply_message& x,
                     runtime::http::error_shape how);

} // namespace atelier::test
