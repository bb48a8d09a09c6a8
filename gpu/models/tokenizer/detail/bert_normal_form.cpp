// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/bert_character.hpp>
#include <atelier/gpu/models/tokenizer/detail/bert_normal_form.hpp>
#include <atelier/gpu/models/tokenizer/detail/canonical_form.hpp>
#include <atelier/gpu/models/tokenizer/detail/character_class.hpp>
#include <atelier/gpu/models/tokenizer/detail/utf8_codes.hpp>

#include <utility>

namespace atelier::gpu::detail {

namespace {

std::u32string cleaned(std::string_view text, bool separate_chinese) {
  std::u32string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto c = next_code(text, i);
    if (is_removed_by_bert(c))
      continue;
    if (class_of(c) == character_class::space)
      out += U' ';
    else if (separate_chinese && is_chinese(c))
      out.append({U' ', c, U' '});
    else
      out += c;
  }
  return out;
}

} // namespace

std::string bert_normal_form(std::string_view text, const bert_form& form) {
  auto codes = cleaned(text, form.separate_chinese);
  if (form.strip_accents) {
    codes = canonical_decomposition(std::move(codes));
    std::erase_if(codes, is_accent);
  }
  std::string out;
  out.reserve(codes.size());
  for (const char32_t c : codes) {
    append_code(out, form.lower_case ? lower_case(c) : c);
    if (form.lower_case && c == 0x130)
      append_code(out, 0x307);
  }
  return out;
}

} // namespace atelier::gpu::detail
