// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/gpu/models/tokenizer/detail/byte_pairs.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace atelier::gpu::detail {

namespace {

constexpr int32_t unknown = 9999;

enum class tokens_made { once, by_any_merge };

// Returns a vocabulary over a few letters with random merges. Each merge joins
// tokens that existed before it.
vocabulary random_vocabulary(core::philox& random, size_t merges,
                             tokens_made how) {
  vocabulary out;
  std::vector<std::string> tokens;
  const auto add = [&](const std::string& token) {
    if (out.ids.emplace(token, static_cast<int32_t>(tokens.size())).second)
      tokens.push_back(token);
  };
  for (const char c : {'a', 'b', 'c'}) {
    add(std::string{c});
    if (c != 'c')
      add(std::string{c} + "</w>");
  }
  // Earlier tokens are more likely, because merges of long tokens seldom apply.
  const auto any = [&] {
    const auto n = tokens.size();
    return tokens[random.below(1 + random.below(1 + random.below(n)))];
  };
  for (size_t i = 0; i < merges; ++i) {
    const auto left = any();
    const auto right = any();
    if (left.ends_with('>') || left.size() + right.size() > 30
        || (how == tokens_made::once && out.ids.contains(left + right)))
      continue;
    const auto a = out.ids.at(left);
    const auto b = out.ids.at(right);
    add(left + right);
    out.merges.push_back({a, b, out.ids.at(left + right)});
  }
  return out;
}

// Applies the definition step by step.
std::vector<int32_t> joined(const vocabulary& with, const std::string& word) {
  const auto tokens = with.ids.size();
  const auto none = with.merges.size();
  std::vector<size_t> ranks(tokens * tokens, none);
  for (size_t i = 0; i < none; ++i)
    ranks[static_cast<size_t>(with.merges[i].left) * tokens
          + static_cast<size_t>(with.merges[i].right)] = i;
  const auto rank_of = [&](int32_t left, int32_t right) {
    return left == unknown || right == unknown
           ? none
           : ranks[static_cast<size_t>(left) * tokens
                   + static_cast<size_t>(right)];
  };
  std::vector<int32_t> out;
  for (size_t i = 0; i < word.size(); ++i) {
    const auto id = with.ids.find(std::string{word[i]}
                                  + (i + 1 == word.size() ? "</w>" : ""));
    out.push_back(id != with.ids.end() ? id->second : unknown);
  }
  for (;;) {
    auto best = none;
    size_t at = 0;
    for (size_t i = 0; i + 1 < out.size(); ++i)
      if (const auto rank = rank_of(out[i], out[i + 1]); rank < best) {
        best = rank;
        at = i;
      }
    if (best == none)
      return out;
    out[at] = with.merges[best].joined;
    out.erase(out.begin() + static_cast<ptrdiff_t>(at + 1));
  }
}

std::string random_word(core::philox& random, size_t length) {
  std::string out;
  const auto letters = 1 + random.below(4);
  for (size_t i = 0; i < length; ++i)
    out.push_back(static_cast<char>('a' + random.below(letters)));
  return out;
}

void check_words(core::philox& random, const vocabulary& words, size_t least,
                 size_t most) {
  const byte_pairs sut{words, unknown};
  byte_pairs::workspace with;
  for (int i = 0; i < 4; ++i) {
    const auto word = random_word(random, least + random.below(most - least));
    sut.encode(word, with);
    BOOST_REQUIRE(with.ids == joined(words, word));
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(byte_pairs_test)

BOOST_AUTO_TEST_CASE(letters_of_bytes_differ) {
  auto letters = byte_letters();
  BOOST_CHECK_EQUAL(letters['!'], "!");
  BOOST_CHECK_EQUAL(letters[0], "\xC4\x80");
  BOOST_CHECK_EQUAL(letters[' '], "\xC4\xA0");
  BOOST_CHECK_EQUAL(letters[0xAD], "\xC5\x83");
  BOOST_CHECK_EQUAL(letters[0xFF], "\xC3\xBF");
  std::sort(letters.begin(), letters.end());
  BOOST_CHECK(std::adjacent_find(letters.begin(), letters.end())
              == letters.end());
}

BOOST_AUTO_TEST_CASE(an_empty_word_has_no_tokens) {
  const byte_pairs sut{{}, unknown};
  byte_pairs::workspace with;
  with.ids = {1};
  sut.encode("", with);
  BOOST_CHECK(with.ids.empty());
  sut.encode("ab", with);
  BOOST_TEST(with.ids == (std::vector<int32_t>{unknown, unknown}));
}

BOOST_AUTO_TEST_CASE(words_are_joined_as_defined) {
  core::philox random{test::seed(), core::purpose::test};
  for (size_t n = test::scaled(10'000); n > 0; --n)
    check_words(random,
                random_vocabulary(random, 1 + random.below(60),
                                  tokens_made::by_any_merge),
                1, 60);
}

BOOST_AUTO_TEST_CASE(merges_in_any_order_join_as_defined) {
  core::philox random{test::seed(), core::purpose::test};
  for (size_t n = test::scaled(10'000); n > 0; --n) {
    auto words = random_vocabulary(random, 1 + random.below(60),
                                   tokens_made::by_any_merge);
    for (size_t i = words.merges.size(); i > 1; --i)
      std::swap(words.merges[i - 1], words.merges[random.below(i)]);
    check_words(random, words, 1, 60);
  }
}

BOOST_AUTO_TEST_CASE(long_words_are_joined_as_defined) {
  core::philox random{test::seed(), core::purpose::test};
  for (size_t n = test::scaled(2'000); n > 0; --n) {
    auto words = random_vocabulary(random, 60, tokens_made::once);
    check_words(random, words, 2000, 2500);
    std::reverse(words.merges.begin(), words.merges.end());
    check_words(random, words, 2000, 2500);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::gpu::detail
