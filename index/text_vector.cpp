// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/core/utf8.hpp>
#include <atelier/index/text_vector.hpp>
#include <atelier/index/vectors/detail/products.hpp>
#include <atelier/ipc/checksum.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace atelier::index {

namespace {

struct range {
  char32_t first;
  char32_t last;
};

template <size_t N>
constexpr bool lies_in(const range (&ranges)[N], char32_t c) {
  return std::any_of(std::begin(ranges), std::end(ranges), [&](const range& r) {
    return c >= r.first && c <= r.last;
  });
}

constexpr range letters_and_digits[] = {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}};

// Outside ASCII, all other characters count as letters.
constexpr range separators[] = {
  {0x80, 0xA9},     {0xAB, 0xB4},    {0xB6, 0xB9},     {0xBB, 0xBF},
  {0xD7, 0xD7},     {0xF7, 0xF7},    {0x2000, 0x206F}, {0x3000, 0x303F},
  {0xFF00, 0xFF0F}, {0xFF1A, 0xFF20}};

// Thai, Lao, Burmese and Khmer letters, Japanese syllables and Chinese
// characters, which no space separates.
constexpr range words_by_themselves[] = {
  {0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF},  {0x3040, 0x30FF},
  {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0x20000, 0x3FFFF}};

// Letters and digits as wide as a Chinese character, and what they are shifted
// by.
constexpr range wide_letters_and_digits[] = {
  {0xFF10, 0xFF19}, {0xFF21, 0xFF3A}, {0xFF41, 0xFF5A}};
constexpr char32_t wide_shift = 0xFEE0;

constexpr bool is_in_word(char32_t c) {
  return c < 0x80 ? lies_in(letters_and_digits, c) : !lies_in(separators, c);
}

// Applies only those of Unicode's rules that shift by a constant, which no
// version of a library changes.
constexpr char32_t small_letter(char32_t c) {
  if (lies_in(wide_letters_and_digits, c))
    return small_letter(c - wide_shift);
  if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7)
      || (c >= 0x391 && c <= 0x3AB) || (c >= 0x410 && c <= 0x42F))
    return c + 32;
  if (c >= 0x400 && c <= 0x40F)
    return c + 80;
  const bool even_capitals = (c >= 0x100 && c <= 0x12F)
                          || (c >= 0x132 && c <= 0x137)
                          || (c >= 0x14A && c <= 0x177);
  const bool odd_capitals =
    (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
  if ((even_capitals && c % 2 == 0) || (odd_capitals && c % 2 == 1))
    return c + 1;
  return c;
}

// Removes the first code point and returns it.
// @pre `text` is UTF-8 and not empty
char32_t take_code_point(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t out = bytes == 1 ? lead : lead & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i)
    out = out << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  text.remove_prefix(bytes);
  return out;
}

// Calls `take` with each word, in small letters.
template <class F>
void each_word(std::string_view text, F take) {
  if (const auto fault = core::find_utf8_fault(text))
    text = text.substr(0, *fault);
  std::string word;
  const auto end_word = [&] {
    if (!word.empty())
      take(std::exchange(word, {}));
  };
  while (!text.empty()) {
    const auto c = take_code_point(text);
    if (!is_in_word(c)) {
      end_word();
      continue;
    }
    const bool alone = lies_in(words_by_themselves, c);
    if (alone)
      end_word();
    word += core::to_utf8(small_letter(c));
    if (alone)
      end_word();
  }
  end_word();
}

// Counts words, and pairs of words by their distance.
class feature_counts {
public:
  void add_word(std::string_view word) {
    const auto hash = ipc::xxh3(std::as_bytes(std::span{word}));
    add(hash, near_weight);
    for (size_t i = 0; i < std::min(words_, reach); ++i) {
      const std::array<uint64_t, 3> pair = {before_[(words_ - 1 - i) % reach],
                                            hash, i + 1};
      add(ipc::xxh3(std::as_bytes(std::span{pair})),
          i == 0 ? near_weight : far_weight);
    }
    before_[words_++ % reach] = hash;
  }

  // Uses whole numbers, roots and quotients, which are rounded alike
  // everywhere.
  text_vector unit() const {
    double squares = 0;
    for (const double x : at_)
      squares += x * x;
    text_vector out{};
    if (squares > 0)
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>(at_[i] / std::sqrt(squares));
    return out;
  }

private:
  // Exchanged objects have equal words and neighbours. Only what stands farther
  // away, such as "left" behind "cat on the", shows which is where.
  static constexpr size_t reach = 8;
  static constexpr double near_weight = 2;
  static constexpr double far_weight = 1;

  // With one place, two of a few hundred words would have the same.
  static constexpr unsigned places = 4;
  static constexpr unsigned bits_of_place = 16;

  void add(uint64_t hash, double weight) {
    for (unsigned i = 0; i < places; ++i) {
      const auto bits = static_cast<uint16_t>(hash >> (i * bits_of_place));
      at_[bits % text_dimensions] +=
        bits >> (bits_of_place - 1) != 0 ? -weight : weight;
    }
  }

  std::array<double, text_dimensions> at_ = {};
  // The hashes of the last words; that of word n is at n % reach.
  std::array<uint64_t, reach> before_ = {};
  size_t words_ = 0;
};

} // namespace

text_vector vector_of(std::string_view text) {
  feature_counts counts;
  each_word(text, [&](std::string_view word) { counts.add_word(word); });
  return counts.unit();
}

words_digest digest_of_words(std::string_view text) {
  core::sha256_stream all;
  each_word(text, [&](const std::string& word) {
    all.update(std::as_bytes(std::span{word.c_str(), word.size() + 1}));
  });
  const auto digest = all.finish();
  words_digest out;
  std::copy_n(digest.begin(), out.size(), out.begin());
  return out;
}

double similarity_of_texts(double of_vectors, bool same_words) {
  if (of_vectors <= most_of_other_texts)
    return of_vectors;
  return same_words ? 1 : most_of_other_texts;
}

double similarity(std::span<const float> a, std::span<const float> b) {
  return std::clamp(
    detail::chosen_products().exact(a.data(), b.data(), a.size()), 0.0, 1.0);
}

} // namespace atelier::index
