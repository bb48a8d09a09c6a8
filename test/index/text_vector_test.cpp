// SPDX-License-Identifier: Apache-2.0
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/index/text_vector.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using index::similarity;
using index::vector_of;

double likeness(std::string_view a, std::string_view b) {
  return similarity(vector_of(a), vector_of(b));
}

double length(const index::text_vector& x) {
  double squares = 0;
  for (const double each : x)
    squares += each * each;
  return std::sqrt(squares);
}

// Returns words of an invented language that begin with `first`.
std::string made_up_text(core::philox& random, char first, size_t words) {
  std::string out;
  for (; words > 0; --words) {
    out += first;
    for (int i = 0; i < 6; ++i)
      out += static_cast<char>('a' + random.below(26));
    out += ' ';
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(text_vector_test)

BOOST_AUTO_TEST_CASE(a_repeated_text_has_likeness_one) {
  for (const auto* text :
       {"cat", "a photo of a cat", "Schloss Neuschwanstein bei Nacht, 4k"}) {
    BOOST_TEST(std::abs(likeness(text, text) - 1) < 1e-6);
    BOOST_TEST(std::abs(length(vector_of(text)) - 1) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(texts_without_a_common_word_have_about_none) {
  double sum = 0;
  constexpr int pairs = 500;
  for (uint64_t i = 0; i < pairs; ++i) {
    core::philox random{7, core::purpose::test, core::request_id{i}};
    const auto x =
      likeness(made_up_text(random, 'x', 12), made_up_text(random, 'y', 12));
    BOOST_TEST(x < 0.35);
    sum += x;
  }
  BOOST_TEST(sum / pairs < 0.05);
}

BOOST_AUTO_TEST_CASE(more_common_words_are_nearer) {
  const auto* text = "a red fox sits in deep snow";
  BOOST_TEST(likeness(text, "a red fox sits in deep snow at night") > 0.8);
  BOOST_TEST(likeness(text, "a red fox sits in deep snow at night")
             > likeness(text, "a red fox in a forest"));
  BOOST_TEST(likeness(text, "a red fox in a forest")
             > likeness(text, "portrait of an old sailor"));
}

BOOST_AUTO_TEST_CASE(the_order_of_words_counts) {
  const auto x = likeness("a dog bites the man", "the man bites a dog");
  BOOST_TEST(x < 0.95);
  BOOST_TEST(x > 0.5);
}

// Captions whose objects have changed places have equal words and neighbours.
BOOST_AUTO_TEST_CASE(exchanged_objects_differ) {
  const std::string in_red = " in a red coat and a ";
  const std::string in_blue = " in a blue dress, oil painting";
  const std::string on_top = " at the top and a ";
  const std::string below = " at the bottom on a gray background";
  const auto two = [](std::string_view a, const std::string& between,
                      std::string_view b, const std::string& after) {
    return std::pair{fmt::format("a {}{}{}{}", a, between, b, after),
                     fmt::format("a {}{}{}{}", b, between, a, after)};
  };
  for (const auto& [text, exchanged] :
       {two("cat", " on the left and a ", "dog", " on the right"),
        two("man", in_red, "woman", in_blue),
        two("large red circle", on_top, "small blue square", below),
        two("red circle", " in the top left corner and a ", "blue star",
            " in the bottom right corner")}) {
    BOOST_TEST(likeness(text, exchanged) < 0.96, text);
    BOOST_TEST(
      (index::digest_of_words(text) != index::digest_of_words(exchanged)));
  }
}

BOOST_AUTO_TEST_CASE(no_two_of_many_words_are_alike) {
  std::vector<index::text_vector> all;
  for (int i = 0; i < 300; ++i)
    all.push_back(vector_of("word" + std::to_string(i)));
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      BOOST_TEST(similarity(all[i], all[k]) < 0.9);
  BOOST_TEST(likeness("boy", "ghost") < 0.5);
  BOOST_TEST(likeness("chair", "rocket") < 0.5);
}

BOOST_AUTO_TEST_CASE(only_equal_sequences_of_words_have_similarity_one) {
  const auto digest = index::digest_of_words("A Red, red -- FOX!");
  BOOST_TEST((digest == index::digest_of_words("a red red fox")));
  for (const auto* text : {"a red fox", "red a red fox", "a red redfox", ""})
    BOOST_TEST((digest != index::digest_of_words(text)));
  BOOST_TEST(index::similarity_of_texts(0.9999999, true) == 1);
  BOOST_TEST(index::similarity_of_texts(1, false) < 1);
  BOOST_TEST(index::similarity_of_texts(1, false)
             == index::similarity_of_texts(0.9999999, false));
  for (const double x : {0.0, 0.5, 0.99})
    for (const bool same : {false, true})
      BOOST_TEST(index::similarity_of_texts(x, same) == x);
}

BOOST_AUTO_TEST_CASE(capitals_and_punctuation_do_not_count) {
  BOOST_TEST((vector_of("A Red, red -- FOX!") == vector_of("a red red fox")));
  BOOST_TEST((vector_of("ÄRA ĐŽ ΣΩ ЁЖ") == vector_of("ära đž σω ёж")));
  BOOST_TEST((vector_of("猫。犬") == vector_of("猫 犬")));
  BOOST_TEST((vector_of("x×y") == vector_of("x y")));
}

BOOST_AUTO_TEST_CASE(accented_letters_belong_to_their_words) {
  BOOST_TEST((vector_of("café") != vector_of("caf")));
  BOOST_TEST(likeness("café", "caf") < 0.5);
}

BOOST_AUTO_TEST_CASE(characters_that_no_space_separates_are_words) {
  BOOST_TEST(likeness("雪の中の赤い狐", "雪の中の白い狐") > 0.5);
}

BOOST_AUTO_TEST_CASE(scripts_without_spaces_are_compared_by_their_letters) {
  // A cat on the chair, a cat on the table, and a red car, in Thai.
  const auto* chair = "แมวบนเก้าอี้";
  BOOST_TEST(likeness(chair, "แมวบนโต๊ะ") > 0.3);
  BOOST_TEST(likeness(chair, "แมวบนโต๊ะ") < 0.9);
  BOOST_TEST(likeness(chair, "รถสีแดง") < 0.3);
  for (const auto& [text, alike] :
       {std::pair{"ຄົນແດງ", "ຄົນຂຽວ"}, {"လူနီ", "လူစိမ်း"}, {"ឆ្មាក្រហម", "ឆ្មាខៀវ"}})
    BOOST_TEST(likeness(text, alike) > 0.1, text);
}

BOOST_AUTO_TEST_CASE(wide_letters_are_letters) {
  BOOST_TEST((vector_of("Ａ ｒｅｄ ＦＯＸ ７") == vector_of("a red fox 7")));
}

BOOST_AUTO_TEST_CASE(a_text_without_words_is_near_to_nothing) {
  const index::text_vector zeros{};
  for (const auto* text : {"", "  ", "?!...", "。、"}) {
    BOOST_TEST((vector_of(text) == zeros));
    BOOST_TEST(likeness(text, text) == 0);
    BOOST_TEST(likeness(text, "a cat") == 0);
  }
}

BOOST_AUTO_TEST_CASE(what_follows_a_fault_in_the_utf8_is_left_out) {
  BOOST_TEST((vector_of("a cat \xFF and more") == vector_of("a cat")));
  BOOST_TEST((vector_of("a cat\xC3") == vector_of("a cat")));
}

// Stores of other machines and versions must agree.
BOOST_AUTO_TEST_CASE(places_and_signs_are_fixed) {
  const auto x = vector_of("red fox");
  std::string told;
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != 0)
      told += std::to_string(i) + (x[i] > 0 ? "+ " : "- ");
  BOOST_TEST(told == "0- 33+ 75- 85+ 109+ 151- 158- 177+ 190+ 207- ");
}

BOOST_AUTO_TEST_CASE(any_bytes_are_a_text) {
  for (uint64_t i = 0; i < 2'000; ++i) {
    core::philox random{test::seed(), core::purpose::test, core::request_id{i}};
    std::string bytes(random.below(40), '\0');
    for (auto& x : bytes)
      x = static_cast<char>(random.below(256));
    const auto n = length(vector_of(bytes));
    BOOST_TEST((n == 0 || std::abs(n - 1) < 1e-6));
  }
}

BOOST_AUTO_TEST_SUITE_END()
