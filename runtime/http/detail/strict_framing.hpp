// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

/// Looks at the lines of a request's head and of a body in chunks, and finds
/// what readers of HTTP understand differently: line ends that are not CR LF,
/// fields that are folded over several lines, sizes of chunks with more than 16
/// digits. It does not parse: that is done by somebody who sees the same bytes.
/// Source: RFC 9112, sections 2.2, 5.2 and 7.1.
/// Threads: one at a time.
class strict_framing {
public:
  /// Looks at the next bytes of the head, up to its end; returns how many it
  /// has seen. After a fault it sees no more.
  size_t look_at_head(std::string_view bytes);

  /// Looks at the next bytes of a body in chunks, up to its end. Likewise.
  size_t look_at_chunks(std::string_view bytes);

  /// Says what is wrong; empty: nothing is.
  std::string_view fault() const {
    return fault_;
  }

  /// The first line, as far as it was seen.
  const std::string& first_line() const {
    return first_line_;
  }

private:
  enum class part : uint8_t { head, size, data, data_end, trailers, done };

  void see(char c);
  void see_line_of_head(char c);
  void see_size(char c);
  void begin_line();
  void fail(std::string_view why);

  part part_ = part::head;
  bool after_return_ = false;
  uint64_t lines_ = 0;
  /// Of the line under way, without its end.
  uint64_t characters_ = 0;
  std::string first_line_;
  /// Of the chunk under way.
  uint64_t left_ = 0;
  uint32_t digits_ = 0;
  bool in_digits_ = true;
  std::string_view fault_;
};

} // namespace atelier::runtime::http::detail
