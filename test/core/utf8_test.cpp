// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/core/utf8.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace atelier::core;
using namespace std::string_literals;

BOOST_AUTO_TEST_SUITE(utf8_test)

BOOST_AUTO_TEST_CASE(well_formed_text_has_no_fault) {
  for (const auto& text :
       {""s, "plain"s, "\0"s, "gr\xC3\xBC\xC3\x9F"s, "\xE2\x82\xAC"s,
        "\xF0\x9F\x8E\xA8 paints"s, "\xED\x9F\xBF"s, "\xEE\x80\x80"s,
        "\xEF\xBF\xBF"s, "\xF4\x8F\xBF\xBF"s, "\xC2\x80"s, "\xE0\xA0\x80"s,
        "\xF0\x90\x80\x80"s})
    BOOST_TEST(!find_utf8_fault(text));
}

BOOST_AUTO_TEST_CASE(each_kind_of_fault_is_found_where_it_starts) {
  const std::vector<std::pair<std::string, size_t>> cases = {
    {"\x80", 0},                 // tail without a start
    {"abc\xBF", 3},              //
    {"12345678\xFF", 8},         // after the fast path
    {"1234567\xFE", 7},          //
    {"\xC0\x80", 0},             // overlong U+0000
    {"\xC1\xBF", 0},             // overlong U+007F
    {"\xE0\x9F\xBF", 0},         // overlong U+07FF
    {"\xF0\x8F\xBF\xBF", 0},     // overlong U+FFFF
    {"a\xED\xA0\x80", 1},        // surrogate U+D800
    {"\xED\xBF\xBF", 0},         // surrogate U+DFFF
    {"\xF4\x90\x80\x80", 0},     // U+110000
    {"\xF5\x80\x80\x80", 0},     //
    {"ab\xC3", 2},               // cut short
    {"\xE2\x82", 0},             //
    {"\xF0\x9F\x8E", 0},         //
    {"\xC3(", 0},                // tail missing
    {"\xE2\x82(", 0},            //
    {"\xF0\x9F\x8E(", 0},        //
    {"\xC3\xBC\xC3\xBC\xC3", 4}, // after good sequences
  };
  for (const auto& [text, at] : cases) {
    const auto fault = find_utf8_fault(text);
    BOOST_REQUIRE(fault.has_value());
    BOOST_TEST(*fault == at);
  }
}

BOOST_AUTO_TEST_CASE(every_code_point_is_written_and_accepted) {
  const auto step =
    static_cast<char32_t>(1'000'000 / atelier::test::scaled(1'000'000));
  for (char32_t c = 0; c <= 0x110000; c += step)
    BOOST_REQUIRE(!find_utf8_fault(to_utf8(c)));
  BOOST_TEST(to_utf8(0x41) == "A");
  BOOST_TEST(to_utf8(0x20AC) == "\xE2\x82\xAC");
  BOOST_TEST(to_utf8(0x1F3A8) == "\xF0\x9F\x8E\xA8");
  BOOST_TEST(to_utf8(0xD800) == "\xEF\xBF\xBD");
  BOOST_TEST(to_utf8(0x110000) == "\xEF\xBF\xBD");
}

BOOST_AUTO_TEST_CASE(a_prefix_up_to_the_fault_is_well_formed) {
  philox random{atelier::test::seed(), purpose::test};
  for (size_t i = 0; i < atelier::test::scaled(1'000'000); ++i) {
    std::string text;
    const auto n = random.below(24);
    for (uint64_t k = 0; k < n; ++k)
      text += random.below(3) == 0
              ? std::string(1, static_cast<char>(random.below(256)))
              : to_utf8(static_cast<char32_t>(random.below(0x110000)));
    const auto fault = find_utf8_fault(text);
    if (!fault)
      continue;
    BOOST_REQUIRE(*fault < text.size());
    BOOST_REQUIRE(!find_utf8_fault(text.substr(0, *fault)));
    BOOST_REQUIRE((find_utf8_fault(text.substr(*fault)) == size_t{0}));
  }
}

BOOST_AUTO_TEST_CASE(a_beginning_ends_between_characters) {
  BOOST_TEST(beginning_of("plain", 5) == "plain");
  BOOST_TEST(beginning_of("plain", 4) == "plai");
  BOOST_TEST(beginning_of("a\xE2\x82\xAC", 4) == "a\xE2\x82\xAC");
  BOOST_TEST(beginning_of("a\xE2\x82\xAC", 3) == "a");
  BOOST_TEST(beginning_of("\xE2\x82\xAC", 2) == "");
}

BOOST_AUTO_TEST_SUITE_END()
