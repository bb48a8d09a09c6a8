// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/character_class.hpp>

#include <unicode/uchar.h>

#include <algorithm>
#include <array>

namespace atelier::gpu::detail {

namespace {

struct class_range {
  char32_t first;
  char32_t last;
  character_class is;
};

struct case_range {
  char32_t first;
  char32_t last;
  int32_t to_lower;
};

using enum character_class;

// Letters and numbers of Unicode 15.1 and 16.0 that are not in 15.0.
constexpr std::array<class_range, 29> later_classes{{
  {0x1C89, 0x1C8A, letter},   {0xA7CB, 0xA7CD, letter},
  {0xA7DA, 0xA7DC, letter},   {0x105C0, 0x105F3, letter},
  {0x10D40, 0x10D49, number}, {0x10D4A, 0x10D65, letter},
  {0x10D6F, 0x10D85, letter}, {0x10EC2, 0x10EC4, letter},
  {0x11380, 0x11389, letter}, {0x1138B, 0x1138B, letter},
  {0x1138E, 0x1138E, letter}, {0x11390, 0x113B5, letter},
  {0x113B7, 0x113B7, letter}, {0x113D1, 0x113D1, letter},
  {0x113D3, 0x113D3, letter}, {0x116D0, 0x116E3, number},
  {0x11BC0, 0x11BE0, letter}, {0x11BF0, 0x11BF9, number},
  {0x13460, 0x143FA, letter}, {0x16100, 0x1611D, letter},
  {0x16130, 0x16139, number}, {0x16D40, 0x16D6C, letter},
  {0x16D70, 0x16D79, number}, {0x18CFF, 0x18CFF, letter},
  {0x1CCF0, 0x1CCF9, number}, {0x1E5D0, 0x1E5ED, letter},
  {0x1E5F0, 0x1E5F0, letter}, {0x1E5F1, 0x1E5FA, number},
  {0x2EBF0, 0x2EE5D, letter},
}};

// Capitals of Unicode 16.0 and 17.0 that are not in 15.0.
constexpr std::array<case_range, 10> later_capitals{{
  {0x1C89, 0x1C89, 1},
  {0xA7CB, 0xA7CB, 0x264 - 0xA7CB},
  {0xA7CC, 0xA7CC, 1},
  {0xA7CE, 0xA7CE, 1},
  {0xA7D2, 0xA7D2, 1},
  {0xA7D4, 0xA7D4, 1},
  {0xA7DA, 0xA7DA, 1},
  {0xA7DC, 0xA7DC, 0x19B - 0xA7DC},
  {0x10D50, 0x10D65, 32},
  {0x16EA0, 0x16EB8, 27},
}};

template <class Ranges>
auto find_range(const Ranges& in, char32_t c) -> decltype(in.data()) {
  const auto i =
    std::lower_bound(in.begin(), in.end(), c,
                     [](const auto& x, char32_t y) { return x.last < y; });
  return i != in.end() && i->first <= c ? &*i : nullptr;
}

// Most prompts have only these characters.
constexpr std::array<character_class, 128> ascii_classes = [] {
  std::array<character_class, 128> out{};
  for (size_t c = 0; c < out.size(); ++c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      out[c] = letter;
    else if (c >= '0' && c <= '9')
      out[c] = number;
    else
      out[c] = c == ' ' || (c >= '\t' && c <= '\r') ? space : other;
  }
  return out;
}();

constexpr uint8_t table_edition = 15;

// Returns whether ICU's data for the code point is that of Unicode 15.0.
bool in_table_edition(char32_t c) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] != 0
      && (age[0] < table_edition || (age[0] == table_edition && age[1] == 0));
}

} // namespace

character_class class_of(char32_t c) {
  if (c < ascii_classes.size())
    return ascii_classes[c];
  if (!in_table_edition(c)) {
    const auto* later = find_range(later_classes, c);
    return later != nullptr ? later->is : other;
  }
  const auto mask = U_GET_GC_MASK(static_cast<UChar32>(c));
  if ((mask & U_GC_L_MASK) != 0)
    return letter;
  if ((mask & U_GC_N_MASK) != 0)
    return number;
  return u_isUWhiteSpace(static_cast<UChar32>(c)) ? space : other;
}

char32_t lower_case(char32_t c) {
  if (c < ascii_classes.size())
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
  if (in_table_edition(c))
    return static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)));
  const auto* later = find_range(later_capitals, c);
  return later != nullptr
         ? static_cast<char32_t>(static_cast<int32_t>(c) + later->to_lower)
         : c;
}

bool known_to_composition(char32_t c) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] != 0 && age[0] <= 9;
}

} // namespace atelier::gpu::detail
