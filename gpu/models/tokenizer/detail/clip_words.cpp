// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/character_class.hpp>
#include <atelier/gpu/models/tokenizer/detail/clip_words.hpp>
#include <atelier/gpu/models/tokenizer/detail/utf8_codes.hpp>

#include <array>

namespace atelier::gpu::detail {

namespace {

// Returns the length of the special text or contraction at the start of the
// text; 0 without one.
size_t fixed_match(std::string_view text) {
  constexpr std::array<std::string_view, 9> fixed{
    start_text, end_text, "'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
  if (text.front() == '<' || text.front() == '\'')
    for (const auto x : fixed)
      if (text.starts_with(x))
        return x.size();
  return 0;
}

} // namespace

std::pair<std::string_view, std::string_view> next_match(
  std::string_view text) {
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = begin;
    const auto is = class_of(next_code(text, end));
    if (is == character_class::space) {
      begin = end;
      continue;
    }
    if (const auto fixed = fixed_match(text.substr(begin)); fixed != 0)
      end = begin + fixed;
    else if (is != character_class::number)
      for (size_t next = end; next < text.size(); end = next)
        if (class_of(next_code(text, next)) != is)
          break;
    return {text.substr(begin, end - begin), text.substr(end)};
  }
  return {};
}

} // namespace atelier::gpu::detail
