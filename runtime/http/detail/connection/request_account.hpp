// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/runtime/http/detail/connection/server_state.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace atelier::runtime::http::detail {

/// What a server counts, times and logs of the request that a connection
/// answers. A request that was worked on or answered is counted once, when it
/// is closed; while it is worked on, the server is busy.
/// Threads: one at a time.
class request_account {
public:
  explicit request_account(std::shared_ptr<server_state> of)
    : server_(std::move(of)) {}

  /// Says that the first byte of a request arrived.
  void begin(core::time_point now) {
    began_ = now;
  }

  /// Names the method of the request; empty if it is unknown.
  void method(std::string x) {
    method_ = std::move(x);
  }

  bool is_head() const {
    return method_ == "HEAD";
  }

  /// Says that a handler works on the request.
  void work();

  /// Says that the request is answered with this status.
  void answer(unsigned status) {
    status_ = status;
  }

  void sent(uint64_t bytes) {
    sent_bytes_ += bytes;
  }

  /// Returns the status of the answer; 0 without one.
  unsigned status() const {
    return status_;
  }

  /// Counts and logs the request, if it was worked on or answered since the
  /// last call.
  /// @param status of the whole answer, or 499 if the client left
  /// @param peer the address at the other end of the connection
  void close(unsigned status, const authentication::entry& entry,
             const std::string& peer, core::time_point now);

private:
  const std::shared_ptr<server_state> server_;
  core::time_point began_;
  std::string method_;
  unsigned status_ = 0;
  uint64_t sent_bytes_ = 0;
  bool busy_ = false;
};

} // namespace atelier::runtime::http::detail
