// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/bert_normal_form.hpp>
#include <atelier/gpu/models/tokenizer/detail/utf8_codes.hpp>
#include <atelier/gpu/models/tokenizer/detail/word_pieces.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace atelier::gpu::detail {

namespace {

std::string in_utf8(std::u32string_view text) {
  std::string out;
  for (const auto c : text)
    append_code(out, c);
  return out;
}

void check_form(std::u32string_view text, std::u32string_view wanted,
                const bert_form& form = {}) {
  BOOST_CHECK_EQUAL(bert_normal_form(in_utf8(text), form), in_utf8(wanted));
}

std::vector<std::string> words_of(std::u32string_view text) {
  const auto all = in_utf8(text);
  std::vector<std::string> out;
  for (std::string_view left = all;;) {
    const auto [word, rest] = next_bert_word(left);
    if (word.empty())
      return out;
    out.emplace_back(word);
    left = rest;
  }
}

constexpr bert_form upper{false, false, true};

} // namespace

BOOST_AUTO_TEST_SUITE(bert_normal_form_test)

BOOST_AUTO_TEST_CASE(control_characters_leave_and_white_space_is_a_space) {
  check_form(U"a\tb\nc\rd\u00A0e\u3000f", U"a b c d e f");
  // These count as control characters, although others treat them as spaces.
  check_form(U"a\u0001\v\f\u0085\u200B\u200D\uFEFFb\uE000\uFFFDc", U"abc");
  // A later version of Unicode made this a format character.
  check_form(U"a\u08E2b", U"a\u08E2b");
}

BOOST_AUTO_TEST_CASE(accents_are_stripped_with_lower_case_or_alone) {
  check_form(U"Caf\u00C9 e\u0301\u0316 \u0130", U"cafe e i");
  check_form(U"Caf\u00C9", U"CafE", {false, true, true});
  check_form(U"Caf\u00C9", U"caf\u00E9", {true, false, true});
  check_form(U"Caf\u00C9 e\u0301", U"Caf\u00C9 e\u0301", upper);
  check_form(U"\u0130", U"i\u0307", {true, false, true});
  // Hangul is decomposed, and a spacing mark stays.
  check_form(U"\uAC01 \u0915\u093F", U"\u1100\u1161\u11A8 \u0915\u093F");
  // Later versions of Unicode have other marks.
  check_form(U"a\u1734b\u08D4", U"ab\u08D4");
}

BOOST_AUTO_TEST_CASE(chinese_characters_are_words_by_themselves) {
  check_form(U"a\u6C34\u58A8b", U"a \u6C34  \u58A8 b");
  check_form(U"\u30AB\uAC00", U"\u30AB\uAC00", upper);
  check_form(U"a\u6C34b", U"a\u6C34b", {true, true, false});
}

BOOST_AUTO_TEST_CASE(punctuation_splits_words) {
  const auto check = [](std::u32string_view text,
                        std::vector<std::string> wanted) {
    BOOST_TEST(words_of(text) == wanted, boost::test_tools::per_element());
  };
  check(U"", {});
  check(U"  ", {});
  check(U"it's a_b $5.", {"it", "'", "s", "a", "_", "b", "$", "5", "."});
  check(U"\u201Cx\u201D\u3001y", {"\u201C", "x", "\u201D", "\u3001", "y"});
  // A later version of Unicode calls the first punctuation, and an earlier one
  // the second.
  check(U"a\u2E43b\u166Dc", {"a\u2E43b", "\u166D", "c"});
}

BOOST_AUTO_TEST_CASE(a_word_is_split_into_the_longest_pieces) {
  const std::unordered_map<std::string, int32_t> vocabulary{
    {"a", 1}, {"ab", 2}, {"##b", 3}, {"##c", 4}, {"##bc", 5}, {"c", 6}};
  const word_pieces sut{vocabulary, 0};
  using ids = std::vector<int32_t>;
  const auto check = [&](const std::string& word, const ids& wanted) {
    ids made;
    sut.split(word, [&](int32_t id) { made.push_back(id); });
    BOOST_TEST(made == wanted, boost::test_tools::per_element());
  };
  check("ab", {2});
  check("abc", {2, 4});
  check("abbc", {2, 5});
  check("c", {6});
  // Its end has no piece, so that none of its pieces count.
  check("abd", {0});
  check("b", {0});
  check("##b", {0});
  std::string longest = "a";
  longest.append(99, 'b');
  ids pieces{2};
  pieces.insert(pieces.end(), 98, 3);
  check(longest, pieces);
  check(longest + "b", {0});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::gpu::detail
