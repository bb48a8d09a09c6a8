// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/bert_character.hpp>
#include <atelier/gpu/models/tokenizer/detail/character_class.hpp>
#include <atelier/gpu/models/tokenizer/detail/utf8_codes.hpp>
#include <atelier/gpu/models/tokenizer/detail/word_pieces.hpp>

#include <array>

namespace atelier::gpu::detail {

word_pieces::word_pieces(
  const std::unordered_map<std::string, int32_t>& vocabulary, int32_t unknown)
  : unknown_(unknown) {
  for (const auto& [piece, id] : vocabulary) {
    if (piece.starts_with(continues_word))
      later_.emplace(piece.substr(continues_word.size()), id);
    else
      first_.emplace(piece, id);
  }
}

void word_pieces::split(std::string_view word,
                        const std::function<void(int32_t)>& take) const {
  // The end of each character.
  std::array<size_t, most_word_characters> ends;
  size_t characters = 0;
  for (size_t i = 0; i < word.size();) {
    if (characters == most_word_characters)
      return take(unknown_);
    next_code(word, i);
    ends[characters++] = i;
  }
  std::array<int32_t, most_word_characters> ids;
  size_t found = 0;
  size_t begin = 0;
  for (size_t done = 0; done < characters;) {
    const auto& known = done == 0 ? first_ : later_;
    size_t last = characters;
    auto at = known.end();
    for (; last > done; --last) {
      at = known.find(word.substr(begin, ends[last - 1] - begin));
      if (at != known.end())
        break;
    }
    if (at == known.end())
      return take(unknown_);
    ids[found++] = at->second;
    begin = ends[last - 1];
    done = last;
  }
  for (size_t i = 0; i < found; ++i)
    take(ids[i]);
}

std::pair<std::string_view, std::string_view> next_bert_word(
  std::string_view text) {
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = begin;
    const auto c = next_code(text, end);
    if (class_of(c) == character_class::space) {
      begin = end;
      continue;
    }
    if (!is_bert_punctuation(c))
      for (size_t next = end; next < text.size(); end = next) {
        const auto further = next_code(text, next);
        if (class_of(further) == character_class::space
            || is_bert_punctuation(further))
          break;
      }
    return {text.substr(begin, end - begin), text.substr(end)};
  }
  return {};
}

} // namespace atelier::gpu::detail
