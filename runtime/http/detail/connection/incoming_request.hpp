// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/connection/byte_shares.hpp>
#include <atelier/runtime/http/detail/connection/request_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace atelier::runtime::http::detail {

/// The request that a connection reads. Its body counts for its caller from the
/// head on, until it is taken or dropped.
/// Threads: one at a time.
class incoming_request {
public:
  enum class event : uint8_t {
    /// It needs more bytes.
    more,
    /// Its head is complete, which is reported once: before its body is read,
    /// the head must be judged, and `count_for` may be called.
    head,
    /// The limit that its body counts for allows no more.
    full,
    /// It has an error: see request_reader::why.
    failed,
    done
  };

  struct outcome {
    event what = event::more;
    /// The number of bytes that were consumed.
    size_t used = 0;
  };

  /// Begins the next request.
  void begin(request_reader::limits most);

  /// Consumes bytes until the next event. The caller passes the rest again.
  /// @pre it has begun, and no event ended it
  outcome feed(std::string_view bytes);

  /// Makes the body count for a caller from now on.
  void count_for(byte_shares::part held) {
    held_ = std::move(held);
  }

  /// Returns whether the head of the request was complete. It stays so until
  /// the next one is awaited.
  bool has_head() const {
    return has_head_;
  }

  /// Returns whether its body is being read.
  bool reads_body() const {
    return reader_ && reader_->where() == request_reader::stage::body;
  }

  /// @pre it has begun, and was neither taken nor dropped
  request_reader& reader() {
    return *reader_;
  }

  /// Forgets the head of the last request.
  void await() {
    has_head_ = false;
  }

  /// Returns the request with what its body counts, and ends reading it.
  std::pair<request_message, byte_shares::part> take();

  /// Ends reading a request whose body is not used.
  void drop();

private:
  std::unique_ptr<request_reader> reader_;
  bool has_head_ = false;
  byte_shares::part held_;
};

} // namespace atelier::runtime::http::detail
