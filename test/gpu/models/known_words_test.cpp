// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/known_words.hpp>

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

BOOST_AUTO_TEST_CASE(a_note_names_unknown_words_and_lists_the_known_ones) {
  const known_words sut{"a red circle"};
  BOOST_TEST(sut.note_on("a red circle").empty());
  BOOST_TEST(sut.note_on("a red elephant")
             == "the model does not know 'elephant'; it knows: a red circle");
  BOOST_TEST(
    sut.note_on("b c d e f g h i j k")
    == "the model does not know 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i' "
       "and 2 more words; it knows: a red circle");
}

BOOST_AUTO_TEST_CASE(a_note_is_one_line_of_bounded_length_whatever_is_in_it) {
  std::string many;
  for (auto i = 0; i < 1000; ++i)
    many += "w" + std::to_string(i) + " ";
  const known_words sut{many};
  const auto note = sut.note_on(std::string(100'000, '\xff') + " \n\x1b[2J b");
  BOOST_TEST(note.size() < 3000);
  BOOST_TEST(note.find_first_of("\n\x1b\xff") == std::string::npos);
  BOOST_TEST(note.ends_with(" w199 ..."));
}

BOOST_AUTO_TEST_CASE(without_a_list_every_word_is_known) {
  for (const auto& sut : {known_words{}, known_words{" \n"}}) {
    BOOST_TEST(sut.empty());
    BOOST_TEST(sut.text().empty());
    BOOST_TEST(sut.note_on("an elephant").empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
