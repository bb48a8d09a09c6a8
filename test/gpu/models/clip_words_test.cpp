// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/clip_words.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace atelier::gpu::detail {

namespace {

using list = std::vector<std::string>;

list words(std::string_view text) {
  list out;
  for_each_word(text, [&](std::string_view word) { out.emplace_back(word); });
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(clip_words_test)

BOOST_AUTO_TEST_CASE(letters_numbers_and_signs_part) {
  BOOST_TEST(words("") == list{}, boost::test_tools::per_element());
  BOOST_TEST(words("  ") == list{}, boost::test_tools::per_element());
  BOOST_TEST(
    words("a photo, 8k--ar 16:9 ")
      == (list{"a", "photo", ",", "8", "k", "--", "ar", "1", "6", ":", "9"}),
    boost::test_tools::per_element());
  BOOST_TEST(
    words("\xC3\xA9t\xC3\xA9\xE2\x80\x94\xC2\xBD\xCC\x81")
      == (list{"\xC3\xA9t\xC3\xA9", "\xE2\x80\x94", "\xC2\xBD", "\xCC\x81"}),
    boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(contractions_stay_together) {
  BOOST_TEST(words("it's they'll we're i've i'm he'd don't")
               == (list{"it", "'s", "they", "'ll", "we", "'re", "i", "'ve", "i",
                        "'m", "he", "'d", "don", "'t"}),
             boost::test_tools::per_element());
  BOOST_TEST(words("'sun 'x ''s !'s '")
               == (list{"'s", "un", "'", "x", "''", "s", "!'", "s", "'"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(special_texts_are_cut_from_what_surrounds_them) {
  BOOST_TEST(words("a<|endoftext|>!! <|startoftext|>'s")
               == (list{"a", "<|", "endoftext", "|>", "!!", "<|", "startoftext",
                        "|>", "'s"}),
             boost::test_tools::per_element());
  BOOST_TEST(words("!<|endoftext|>! <|endoftext")
               == (list{"!<|", "endoftext", "|>!", "<|", "endoftext"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::gpu::detail
