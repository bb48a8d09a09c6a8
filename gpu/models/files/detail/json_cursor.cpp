// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/files/detail/json_cursor.hpp>

#include <fmt/format.h>

#include <charconv>

namespace atelier::gpu::detail {

void json_cursor::skip_space() {
  while (at_ < text_.size()
         && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r'
             || text_[at_] == '\t'))
    ++at_;
}

bool json_cursor::fail(std::string_view why) {
  fault_ = fmt::format("at byte {}: {}", at_, why);
  return false;
}

bool json_cursor::take(char c) {
  skip_space();
  if (at_ == text_.size() || text_[at_] != c)
    return false;
  ++at_;
  return true;
}

bool json_cursor::take_word(std::string_view word) {
  skip_space();
  if (!text_.substr(at_).starts_with(word))
    return false;
  at_ += word.size();
  return true;
}

bool json_cursor::expect(char c) {
  return take(c) || fail(fmt::format("'{}' is expected", c));
}

bool json_cursor::at_end() {
  skip_space();
  return at_ == text_.size();
}

std::optional<uint64_t> json_cursor::whole() {
  skip_space();
  const auto* first = text_.data() + at_;
  const auto* last = text_.data() + text_.size();
  uint64_t out = 0;
  const auto [end, error] = std::from_chars(first, last, out);
  const auto next = end < last ? *end : ' ';
  // JSON has no numbers with a leading zero; a fraction or an exponent makes it
  // another kind of number.
  if (error != std::errc{} || (*first == '0' && end - first > 1) || next == '.'
      || next == 'e' || next == 'E') {
    fail("a whole number in 0..2^64-1 is expected");
    return std::nullopt;
  }
  at_ += static_cast<size_t>(end - first);
  return out;
}

std::optional<uint32_t> json_cursor::four_digits() {
  if (text_.size() - at_ < 4)
    return std::nullopt;
  uint32_t out = 0;
  const auto* first = text_.data() + at_;
  const auto [end, error] = std::from_chars(first, first + 4, out, 16);
  if (error != std::errc{} || end != first + 4)
    return std::nullopt;
  at_ += 4;
  return out;
}

bool json_cursor::escape(std::string& out) {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  const char letter = at_ < text_.size() ? text_[at_] : '\0';
  if (letter != 'u') {
    const auto i =
      letter == '\0' ? std::string_view::npos : letters.find(letter);
    if (i == std::string_view::npos)
      return fail("an escape that JSON does not know");
    out += meanings[i];
    ++at_;
    return true;
  }
  ++at_;
  auto code = four_digits();
  if (code && *code >= 0xd800 && *code < 0xdc00
      && text_.substr(at_).starts_with("\\u")) {
    at_ += 2;
    const auto low = four_digits();
    code = low && *low >= 0xdc00 && *low < 0xe000
           ? std::optional{0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00)}
           : std::nullopt;
  }
  if (!code || (*code >= 0xd800 && *code < 0xe000))
    return fail("\\u needs the four hexadecimal digits of a character");
  out += core::to_utf8(static_cast<char32_t>(*code));
  return true;
}

std::optional<std::string> json_cursor::string() {
  if (!take('"')) {
    fail("a string is expected");
    return std::nullopt;
  }
  std::string out;
  for (;;) {
    const auto start = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\'
           && static_cast<unsigned char>(text_[at_]) >= 0x20)
      ++at_;
    const auto plain = text_.substr(start, at_ - start);
    if (const auto offset = core::find_utf8_fault(plain)) {
      at_ = start + *offset;
      fail("not UTF-8");
      return std::nullopt;
    }
    out += plain;
    if (at_ == text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) {
      fail("a string does not end");
      return std::nullopt;
    }
    if (text_[at_++] == '"')
      return out;
    if (!escape(out))
      return std::nullopt;
  }
}

} // namespace atelier::gpu::detail
