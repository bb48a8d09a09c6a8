// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/models/files/detail/json_cursor.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <random>

using atelier::gpu::detail::json_cursor;

namespace {

std::string string_of(std::string_view text) {
  json_cursor sut{text};
  const auto out = sut.string();
  return out ? *out : "fault " + sut.fault();
}

} // namespace

BOOST_AUTO_TEST_SUITE(json_cursor_test)

BOOST_AUTO_TEST_CASE(whole_numbers_are_read_and_no_others) {
  for (const auto& [text, value] :
       {std::pair{"0", uint64_t{0}}, std::pair{" 7,", uint64_t{7}},
        std::pair{"18446744073709551615", ~uint64_t{0}}}) {
    json_cursor sut{text};
    BOOST_TEST((sut.whole() == value), text);
  }
  for (const auto* text : {"", "-1", "01", "1.0", "1e3", "1E3", "+1", "x",
                           "18446744073709551616", "\"1\"", "0x1"}) {
    json_cursor sut{text};
    const auto value = sut.whole();
    // "0x1" is a zero followed by other text.
    BOOST_TEST((!value || !sut.at_end()), text);
  }
}

BOOST_AUTO_TEST_CASE(escapes_are_resolved) {
  BOOST_TEST(string_of(R"("a\"\\\/\b\f\n\r\tz")") == "a\"\\/\b\f\n\r\tz");
  BOOST_TEST(string_of(R"("\u0041\u00e9\u4e16\uD83C\udf08")")
             == "A\xc3\xa9\xe4\xb8\x96\xf0\x9f\x8c\x88");
  BOOST_TEST(string_of(R"("\u0000")") == std::string(1, '\0'));
}

BOOST_AUTO_TEST_CASE(faults_are_told_with_their_place) {
  BOOST_TEST(string_of("x") == "fault at byte 0: a string is expected");
  BOOST_TEST(string_of("\"ab") == "fault at byte 3: a string does not end");
  BOOST_TEST(string_of("\"a\nb\"") == "fault at byte 2: a string does not end");
  BOOST_TEST(string_of("\"ab\xff\"") == "fault at byte 3: not UTF-8");
  BOOST_TEST(string_of(R"("\x")").starts_with("fault at byte 2"));
  for (const auto* text :
       {R"("\u12")", R"("\ud800")", R"("\ud800\u0041")", R"("\udc00")",
        R"("\u12g4")", R"("\u-123")", R"("\)"})
    BOOST_TEST(string_of(text).starts_with("fault"), text);
  json_cursor sut{" ["};
  BOOST_TEST(!sut.expect('{'));
  BOOST_TEST(sut.fault() == "at byte 1: '{' is expected");
  BOOST_TEST(sut.take('['));
  BOOST_TEST(sut.at_end());
}

BOOST_AUTO_TEST_CASE(strings_are_read_as_another_reader_does) {
  std::mt19937_64 random{atelier::test::seed()};
  const std::string letters = "ab\\\"u0dD8cf/n\t \xc3\xa9\xff{";
  size_t good = 0;
  for (size_t i = atelier::test::scaled(1'000'000); i > 0; --i) {
    std::string text = "\"";
    for (auto n = random() % 12; n > 0; --n)
      text += letters[random() % letters.size()];
    text += '"';
    json_cursor sut{text};
    auto ours = sut.string();
    if (ours && !sut.at_end())
      ours.reset();
    const auto theirs = nlohmann::json::parse(text, nullptr, false);
    BOOST_REQUIRE_EQUAL(ours.has_value(), theirs.is_string());
    if (ours) {
      ++good;
      BOOST_REQUIRE_EQUAL(*ours, theirs.get<std::string>());
    }
  }
  BOOST_TEST(good > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
