// SPDX-License-Identifier: Apache-2.0
#include "core/image/sample.hpp"
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/detail/png_text.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace atelier::image;
using namespace atelier::image::detail;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

// Returns an image file with that chunk before its end.
bytes with_chunk(std::string_view type, std::string_view data) {
  auto file = encode(test::smooth({4, 4}).view(), {});
  BOOST_REQUIRE(file);
  const size_t end_bytes = 12;
  bytes result{file->begin(), file->end() - end_bytes};
  append_png_chunk(result, type, as_bytes(data));
  append_png_chunk(result, "IEND", {});
  return result;
}

// "Hi", compressed by zlib.
constexpr auto packed_hi = "\x78\x9C\xF3\xC8\x04\x00\x00\xFB\x00\xB2"sv;

} // namespace

BOOST_AUTO_TEST_SUITE(png_text_test)

BOOST_AUTO_TEST_CASE(all_kinds_of_text_are_read) {
  const std::pair<std::string_view, std::string> cases[] = {
    {"tEXt", "parameters\0gr\xFC\xDF"s},
    {"iTXt", "parameters\0\0\0\0\0gr\xC3\xBC\xC3\x9F"s},
    {"iTXt", "parameters\0\0\0de\0Parameter\0gr\xC3\xBC\xC3\x9F"s},
  };
  for (const auto& [type, data] : cases) {
    const auto file = with_chunk(type, data);
    BOOST_TEST((read_text(file) == "gr\xC3\xBC\xC3\x9F"));
    BOOST_TEST(static_cast<bool>(decode(file)));
  }
  BOOST_TEST((read_text(with_chunk("zTXt", "parameters\0\0"s.append(packed_hi)))
              == "Hi"));
  BOOST_TEST(
    (read_text(with_chunk("iTXt", "parameters\0\1\0\0\0"s.append(packed_hi)))
     == "Hi"));
}

BOOST_AUTO_TEST_CASE(faulty_and_foreign_text_is_none) {
  const std::pair<std::string_view, std::string> cases[] = {
    {"tEXt", "Software\0x"s},         {"tEXt", "parameters"s},
    {"iTXt", "parameters\0"s},        {"iTXt", "parameters\0\0\0"s},
    {"iTXt", "parameters\0\0\0x\0"s}, {"zTXt", "parameters\0"s},
    {"zTXt", "parameters\0\0xyz"s},   {"iTXt", "parameters\0\1\0\0\0xyz"s},
  };
  for (const auto& [type, data] : cases)
    BOOST_TEST(!read_text(with_chunk(type, data)));
}

BOOST_AUTO_TEST_CASE(latin1_makes_a_text_chunk_and_more_an_international_one) {
  bytes latin;
  append_png_text(latin, "gr\xC3\xBC\xC3\x9F");
  BOOST_TEST((as_text(latin).substr(4, 19) == "tEXtparameters\0gr\xFC\xDF"sv));
  bytes wide;
  append_png_text(wide, "\xE2\x82\xAC");
  BOOST_TEST(
    (as_text(wide).substr(4, 22) == "iTXtparameters\0\0\0\0\0\xE2\x82\xAC"sv));
}

BOOST_AUTO_TEST_CASE(nul_cannot_stand_in_a_text) {
  const auto file =
    encode(test::smooth({4, 4}).view(), {}, std::string_view{"a\0b", 3});
  BOOST_REQUIRE(file);
  BOOST_TEST((read_text(*file)
              == "a\xEF\xBF\xBD"
                 "b"));
}

BOOST_AUTO_TEST_SUITE_END()
