// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/known_words.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace atelier;
using gpu::known_words;
using words = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(known_words_test)

BOOST_AUTO_TEST_CASE(unknown_words_are_told_once_as_they_are_written) {
  const known_words sut{"a red\ncircle \t\r\n red"};
  BOOST_TEST((sut.unknown_in("A Red, circle!") == words{}));
  BOOST_TEST((sut.unknown_in("Elephant on a circle; Elephant (2nd) \xc3\xa9t"
                             "\xc3\xa9")
              == words{"Elephant", "on", "2nd", "\xc3\xa9t\xc3\xa9"}));
  BOOST_TEST(sut.text() == "a\nred\ncircle\n");
}

BOOST_AUTO_TEST_CASE(a_note_names_the_word_and_the_nearest_or_all) {
  const known_words sut{"a red circle"};
  BOOST_TEST(sut.notes_on("a red circle").empty());
  const std::vector<core::note> expected{
    {core::note_code::unknown_word,
     "the model does not know 'circel': use 'circle'"},
    {core::note_code::unknown_word,
     "the model does not know 'elephant'; it knows: a red circle"}};
  BOOST_TEST((sut.notes_on("a red circel, elephant") == expected));
  const auto many = sut.notes_on("b c d e f g h i j k");
  BOOST_TEST_REQUIRE(many.size() == 7u);
  BOOST_TEST(many.back().text == "the model does not know 4 more words of it");
}

BOOST_AUTO_TEST_CASE(phrases_of_unknown_words_are_left_out) {
  using with = known_words::with;
  const known_words sut{"a red circle on white"};
  const auto said = [&](std::string_view text) {
    return sut.known_phrases_of(text, with::any_known);
  };
  BOOST_TEST(said("best quality, absurdres, aesthetic, a red circle")
             == "a red circle");
  BOOST_TEST(said("a red circle, (masterpiece:1.2) on white")
             == "a red circle, (masterpiece:1.2) on white");
  BOOST_TEST(said("a Red circel, 4k,on white, (best:1.2)")
             == "a Red circel,on white");
  BOOST_TEST(said(" a circle ,, ") == " a circle ,, ");
  BOOST_TEST(said("lowres, text") == "");
  BOOST_TEST(said("") == "");
  BOOST_TEST(
    sut.known_phrases_of("lowres, red hands, a circle, 4k", with::all_known)
    == "a circle");
  BOOST_TEST(known_words{}.known_phrases_of("any, thing", with::all_known)
             == "any, thing");
}

BOOST_AUTO_TEST_CASE(a_note_is_one_line_of_bounded_length_whatever_is_in_it) {
  std::string many;
  for (auto i = 0; i < 1000; ++i)
    many += "w" + std::to_string(i) + " ";
  const known_words sut{many};
  const auto notes =
    sut.notes_on(std::string(100'000, '\xff') + " \n\x1b[2J b");
  BOOST_TEST_REQUIRE(!notes.empty());
  for (const auto& x : notes) {
    BOOST_TEST(x.text.size() < core::most_note_bytes);
    BOOST_TEST(x.text.find_first_of("\n\x1b\xff") == std::string::npos);
  }
  BOOST_TEST(notes.front().text.ends_with(" w39 ..."));
}

BOOST_AUTO_TEST_CASE(a_prompt_of_unknown_words_takes_little_time) {
  std::string prompt;
  for (auto i = 0; i < 30'000; ++i)
    prompt += "x" + std::to_string(i) + " ";
  BOOST_TEST(known_words{"a red circle"}.unknown_in(prompt).size() == 1024u);
}

BOOST_AUTO_TEST_CASE(without_a_list_every_word_is_known) {
  for (const auto& sut : {known_words{}, known_words{" \n"}}) {
    BOOST_TEST(sut.empty());
    BOOST_TEST(sut.text().empty());
    BOOST_TEST(sut.notes_on("an elephant").empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
