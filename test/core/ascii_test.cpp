// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::core;

BOOST_AUTO_TEST_SUITE(ascii_test)

BOOST_AUTO_TEST_CASE(only_letters_of_ascii_have_a_lower_case) {
  BOOST_TEST(lower_case("AZ az09[\xC3\x84]") == "az az09[\xC3\x84]");
  BOOST_TEST(same_word("Bearer", "bEARER"));
  BOOST_TEST(!same_word("Bearer", "Bearers"));
  BOOST_TEST(!same_word("[", "{"));
}

BOOST_AUTO_TEST_CASE(hexadecimal_digits_have_their_values) {
  BOOST_TEST(hex_digit('9').value() == 9u);
  BOOST_TEST(hex_digit('a').value() == 10u);
  BOOST_TEST(hex_digit('F').value() == 15u);
  BOOST_TEST(!hex_digit('g'));
  BOOST_TEST(!hex_digit('\xB9'));
}

BOOST_AUTO_TEST_CASE(bytes_beyond_ascii_are_no_letters) {
  BOOST_TEST(is_alphanumeric('Q'));
  BOOST_TEST(is_alphanumeric('0'));
  BOOST_TEST(!is_alphanumeric('_'));
  BOOST_TEST(!is_alphanumeric('\xE4'));
}

BOOST_AUTO_TEST_CASE(trimming_leaves_what_is_between_the_blanks) {
  BOOST_TEST(trim(" \ta b\t ") == "a b");
  BOOST_TEST(trim(" \t ") == "");
  BOOST_TEST(trim("--a-b", [](char c) { return c == '-'; }) == "a-b");
}

BOOST_AUTO_TEST_SUITE_END()
