// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/runtime/http/detail/connection/strict_framing.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

/// More cannot be counted in 64 bits, and says nothing but zeros in front.
constexpr uint32_t most_digits = 16;

/// More of the first line is in no message.
constexpr size_t most_kept = 1024;

} // namespace

void strict_framing::fail(std::string_view why) {
  if (fault_.empty())
    fault_ = why;
}

size_t strict_framing::look_at_head(std::string_view bytes) {
  size_t seen = 0;
  while (seen < bytes.size() && part_ == part::head && fault_.empty())
    see(bytes[seen++]);
  return seen;
}

size_t strict_framing::look_at_chunks(std::string_view bytes) {
  size_t seen = 0;
  while (seen < bytes.size() && part_ != part::done && fault_.empty()) {
    if (part_ != part::data) {
      see(bytes[seen++]);
      continue;
    }
    const auto now = std::min<uint64_t>(left_, bytes.size() - seen);
    seen += now;
    left_ -= now;
    if (left_ == 0)
      part_ = part::data_end;
  }
  return seen;
}

/// Sees one byte of what has lines.
void strict_framing::see(char c) {
  if (std::exchange(after_return_, c == '\r')) {
    if (c != '\n')
      return fail("a carriage return has no line feed after it");
    return begin_line();
  }
  if (c == '\r')
    return;
  if (c == '\n')
    return fail("a line ends with only a line feed");
  if (part_ == part::size)
    see_size(c);
  else if (part_ == part::data_end)
    fail("a chunk is longer than its size");
  else
    see_line_of_head(c);
  ++characters_;
}

void strict_framing::see_line_of_head(char c) {
  const bool blank = c == ' ' || c == '\t';
  if (characters_ == 0 && blank)
    return fail(lines_ == 0 ? "the first line begins with a blank"
                            : "a header field is folded over two lines");
  if (part_ == part::head && lines_ == 0 && first_line_.size() < most_kept)
    first_line_ += c;
}

void strict_framing::see_size(char c) {
  const auto digit = core::hex_digit(c);
  in_digits_ = in_digits_ && digit;
  if (!in_digits_)
    return;
  if (++digits_ > most_digits)
    return fail("the size of a chunk has more than 16 digits");
  left_ = left_ << 4 | uint64_t{*digit};
}

/// The line under way has ended.
void strict_framing::begin_line() {
  const bool empty = std::exchange(characters_, 0) == 0;
  switch (part_) {
    case part::head:
    case part::trailers:
      ++lines_;
      if (empty)
        part_ = part_ == part::head ? part::size : part::done;
      break;
    case part::size:
      if (digits_ == 0)
        return fail("a chunk has no size");
      part_ = left_ == 0 ? part::trailers : part::data;
      digits_ = 0;
      in_digits_ = true;
      break;
    case part::data_end:
      if (empty)
        part_ = part::size;
      break;
    default:
      break;
  }
}

} // namespace atelier::runtime::http::detail
