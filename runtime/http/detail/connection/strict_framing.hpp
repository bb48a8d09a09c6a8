// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

/// Checks the lines of a request's head and of a chunked body for framing that
/// HTTP readers understand differently: line ends other than CR LF, fields
/// folded over several lines, chunk sizes with more than 16 digits. It does not
/// parse: a separate parser sees the same bytes.
/// Source: RFC 9112, sections 2.2, 5.2 and 7.1.
/// Threads: one at a time.
class strict_framing {
public:
  /// Checks the next bytes of the head, up to its end. Returns the number of
  /// bytes checked. After a fault it checks no more.
  size_t look_at_head(std::string_view bytes);

  /// Checks the next bytes of a chunked body, up to its end. Returns the number
  /// of bytes checked. After a fault it checks no more.
  size_t look_at_chunks(std::string_view bytes);

  /// Returns a description of the fault; empty: no fault.
  std::string_view fault() const {
    return fault_;
  }

  /// Returns the part of the first line that was seen.
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
  /// Length of the current line, without its end.
  uint64_t characters_ = 0;
  std::string first_line_;
  /// Bytes left of the current chunk.
  uint64_t left_ = 0;
  uint32_t digits_ = 0;
  bool in_digits_ = true;
  std::string_view fault_;
};

} // namespace atelier::runtime::http::detail
