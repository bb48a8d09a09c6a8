// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/request.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/parse.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::runtime::cli;

BOOST_AUTO_TEST_SUITE(parse_test)

BOOST_AUTO_TEST_CASE(whole_numbers_are_read_to_both_ends) {
  BOOST_TEST(*parse_whole("--seed", "0", 0, UINT64_MAX) == 0);
  BOOST_TEST(*parse_whole("--seed", "18446744073709551615", 0, UINT64_MAX)
             == UINT64_MAX);
  BOOST_TEST(*parse_whole("--steps", "150", 1, 150) == 150);
}

BOOST_AUTO_TEST_CASE(all_else_is_no_whole_number) {
  for (const auto* text :
       {"", " ", "0", "151", "-1", "+1", "1 ", " 1", "1.0", "1e2", "0x10", "x",
        "18446744073709551616", "99999999999999999999999999"}) {
    const auto sut = parse_whole("--steps", text, 1, 150);
    BOOST_TEST_CONTEXT("'" << text << "'") {
      BOOST_TEST_REQUIRE(!sut);
      BOOST_TEST((sut.why().code == core::ec::invalid_argument));
      BOOST_TEST(sut.why().text
                 == "--steps: '" + std::string{text}
                      + "' is not a whole number in 1..150");
    }
  }
}

BOOST_AUTO_TEST_CASE(decimals_are_read_within_the_range) {
  BOOST_TEST(*parse_decimal("--guidance", "0", 50) == 0.f);
  BOOST_TEST(*parse_decimal("--guidance", "7.5", 50) == 7.5f);
  BOOST_TEST(*parse_decimal("--guidance", "50", 50) == 50.f);
  for (const auto* text :
       {"", "-0.1", "50.1", "nan", "inf", "1e99", "7,5", "x"})
    BOOST_TEST(!parse_decimal("--guidance", text, 50), text);
}

BOOST_AUTO_TEST_CASE(sizes_are_multiples_of_eight_within_the_limits) {
  const core::limits within;
  BOOST_TEST((*parse_size("--size", "auto", within) == core::extent{}));
  BOOST_TEST(
    (*parse_size("--size", "8x2048", within) == core::extent{8, 2048}));
  BOOST_TEST(
    (*parse_size("--size", "512x64", within) == core::extent{512, 64}));
  BOOST_TEST(
    (*parse_size("--size", "512X64", within) == core::extent{512, 64}));
  BOOST_TEST((*parse_size("--size", "128", within) == core::extent{128, 128}));
  for (const auto* text : {"", "x", "0", "100", "2056", "512x", "x512", "0x0",
                           "0x512", "7x8", "8x12", "2056x8", "8x2056", "-8x8",
                           "512x512x3", "512Xx8", " 512x512", "4294967304x8"})
    BOOST_TEST(!parse_size("--size", text, within), text);
}

BOOST_AUTO_TEST_CASE(a_size_has_at_most_the_limit_of_pixels) {
  core::limits within;
  within.picture_px = 64 * 64;
  BOOST_TEST(bool{parse_size("--size", "64x64", within)});
  BOOST_TEST(!parse_size("--size", "64x72", within));
}

BOOST_AUTO_TEST_CASE(a_word_is_one_of_its_choices) {
  BOOST_TEST(bool{check_choice("--priority", "low")});
  const auto sut = check_choice("--priority", "urgent");
  BOOST_TEST_REQUIRE(!sut);
  BOOST_TEST(sut.why().text
             == "--priority: 'urgent' is not low, normal or high");
}

BOOST_AUTO_TEST_CASE(the_choices_are_those_of_the_vocabulary) {
  for (auto word : choices_of("--sampler"))
    BOOST_TEST(core::parse_sampler(word).has_value(), word);
  for (auto word : choices_of("--format"))
    BOOST_TEST(core::parse_image_format(word).has_value(), word);
  for (auto word : choices_of("--priority"))
    BOOST_TEST(core::parse_priority(word).has_value(), word);
  BOOST_TEST(choices_of("--seed").empty());
}

BOOST_AUTO_TEST_CASE(a_text_is_utf8_within_its_length) {
  BOOST_TEST(bool{check_text("PROMPT", "", 4)});
  BOOST_TEST(bool{check_text("PROMPT", "\u00e9\u00e9", 4)});
  BOOST_TEST(!check_text("PROMPT", "abcde", 4));
  BOOST_TEST(!check_text("PROMPT", "\xff", 4));
}

BOOST_AUTO_TEST_CASE(a_shown_value_is_short_valid_and_one_line) {
  BOOST_TEST(show_value("a\nb\x1b") == "'a b '");
  BOOST_TEST(show_value("\xff"
                        "a")
             == "'?a'");
  BOOST_TEST(show_value(std::string(60, 'a'))
             == "'" + std::string(60, 'a') + "'");
  BOOST_TEST(show_value(std::string(61, 'a'))
             == "'" + std::string(60, 'a') + "...'");
  const auto cut = show_value(std::string(59, 'a') + "\u20ac and more");
  BOOST_TEST(cut == "'" + std::string(59, 'a') + "...'");
}

BOOST_AUTO_TEST_SUITE_END()
