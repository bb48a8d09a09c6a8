// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <random>
#include <string>

namespace atelier::test {

/// Changes text at random: bytes, pieces, and words that matter to the reader.
class mutator {
public:
  explicit mutator(uint64_t seed) : random_(seed) {}

  size_t below(size_t n) {
    return random_() % n;
  }

  std::string operator()(std::string text) {
    for (auto n = 1 + below(4); n > 0; --n)
      change(text);
    return text;
  }

private:
  void change(std::string& text) {
    static const std::array<std::string, 28> words = {"[",
                                                      "]",
                                                      "{",
                                                      "}",
                                                      "\"",
                                                      ",",
                                                      ":",
                                                      "\\",
                                                      "null",
                                                      "true",
                                                      "-1",
                                                      "0",
                                                      "1e9",
                                                      "18446744073709551615",
                                                      "9223372036854775807",
                                                      "4294967296",
                                                      "\"dtype\"",
                                                      "\"shape\":[]",
                                                      "\"data_offsets\":[0,0]",
                                                      "\"F64\"",
                                                      "\"__metadata__\":{},",
                                                      "\"x\":{},",
                                                      "[[[[[[[[",
                                                      "{\"a\":{\"a\":{\"a\":",
                                                      "\xff",
                                                      std::string(1, '\0'),
                                                      "../",
                                                      "\\ud800"};
    const auto at = below(text.size() + 1);
    switch (below(7)) {
      case 0:
        text.insert(at, words[below(words.size())]);
        break;
      case 1:
        if (at < text.size())
          text[at] = static_cast<char>(random_());
        break;
      case 2:
        text.erase(at, 1 + below(8));
        break;
      case 3:
        text.resize(at);
        break;
      case 4: {
        // A piece is repeated at another place.
        const auto piece = text.substr(at, 1 + below(60));
        text.insert(below(text.size() + 1), piece);
        break;
      }
      case 5:
        replace_number(text, at);
        break;
      default: {
        const auto& word = words[below(words.size())];
        text.replace(at, word.size(), word);
        break;
      }
    }
  }

  void replace_number(std::string& text, size_t from) {
    const auto first = text.find_first_of("0123456789", from);
    if (first == std::string::npos)
      return;
    auto last = text.find_first_not_of("0123456789", first);
    if (last == std::string::npos)
      last = text.size();
    static const std::array<std::string, 8> numbers = {
      "0", "1", "3", "-1", "65536", "16777216", "4611686018427387904", "1.5"};
    text.replace(first, last - first, numbers[below(numbers.size())]);
  }

  std::mt19937_64 random_;
};

} // namespace atelier::test
