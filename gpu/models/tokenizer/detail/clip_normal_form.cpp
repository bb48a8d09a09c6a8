// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/tokenizer/detail/canonical_form.hpp>
#include <atelier/gpu/models/tokenizer/detail/character_class.hpp>
#include <atelier/gpu/models/tokenizer/detail/clip_normal_form.hpp>
#include <atelier/gpu/models/tokenizer/detail/utf8_codes.hpp>

#include <cstdint>

namespace atelier::gpu::detail {

namespace {

// Returns how many bytes of the sequence at the start of the text could have
// become a code point; at least one.
size_t cut_sequence(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto within = [&](size_t i, uint8_t low, uint8_t high) {
    return byte(i) >= low && byte(i) <= high;
  };
  const auto first = byte(0);
  if (first >= 0xE0 && first <= 0xEF)
    return within(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF)
           ? 2
           : 1;
  if (first >= 0xF0 && first <= 0xF4
      && within(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF))
    return within(2, 0x80, 0xBF) ? 3 : 2;
  return 1;
}

} // namespace

std::string clip_normal_form(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto codes = canonical_composition(codes_of(text));
  bool after_space = false;
  for (const char32_t c : codes) {
    const bool is_space = class_of(c) == character_class::space;
    if (!is_space) {
      append_code(out, lower_case(c));
      if (c == 0x130)
        append_code(out, 0x307);
    } else if (!after_space) {
      out.push_back(' ');
    }
    after_space = is_space;
  }
  return out;
}

std::string repaired_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto good = core::find_utf8_fault(text).value_or(text.size());
    out.append(text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty())
      break;
    append_code(out, 0xFFFD);
    text.remove_prefix(cut_sequence(text));
  }
  return out;
}

} // namespace atelier::gpu::detail
