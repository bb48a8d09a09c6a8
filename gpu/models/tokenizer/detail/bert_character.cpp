// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/bert_character.hpp>

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace atelier::gpu::detail {

namespace {

constexpr uint8_t bert_edition = 8;

// Later editions moved these to other classes.
constexpr std::array<char32_t, 2> earlier_punctuation{0x166D, 0x111C9};
constexpr std::array<char32_t, 1> earlier_accents{0x1734};
constexpr std::array<char32_t, 4> later_accents{0x1885, 0x1886, 0xA9BD,
                                                0x111C9};

template <size_t N>
bool is_among(const std::array<char32_t, N>& all, char32_t c) {
  return std::ranges::find(all, c) != all.end();
}

// Returns the mask of the code point's general category in ICU's tables; 0 if
// Unicode 8.0 does not assign it.
uint32_t mask_of(char32_t c) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] != 0 && age[0] <= bert_edition
         ? U_GET_GC_MASK(static_cast<UChar32>(c))
         : 0;
}

} // namespace

bool is_removed_by_bert(char32_t c) {
  if (c >= 0x20 && c < 0x7F)
    return false;
  if (c == '\t' || c == '\n' || c == '\r')
    return false;
  constexpr char32_t replacement = 0xFFFD;
  constexpr uint32_t removed = U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK;
  return c == replacement || (mask_of(c) & removed) != 0;
}

bool is_accent(char32_t c) {
  constexpr char32_t first_accent = 0x300;
  if (c < first_accent || is_among(later_accents, c))
    return false;
  return is_among(earlier_accents, c) || (mask_of(c) & U_GC_MN_MASK) != 0;
}

bool is_bert_punctuation(char32_t c) {
  if (c < 0x80)
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@')
        || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  return is_among(earlier_punctuation, c) || (mask_of(c) & U_GC_P_MASK) != 0;
}

bool is_chinese(char32_t c) {
  constexpr std::array<std::pair<char32_t, char32_t>, 7> ranges{{
    {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},
    {0xF900, 0xFAFF},
    {0x20000, 0x2A6DF},
    {0x2A700, 0x2B81F},
    {0x2B920, 0x2CEAF},
    {0x2F800, 0x2FA1F},
  }};
  return std::ranges::any_of(
    ranges, [&](const auto& x) { return c >= x.first && c <= x.second; });
}

} // namespace atelier::gpu::detail
