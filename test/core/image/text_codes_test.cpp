// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/image/detail/text_codes.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/core/utf8.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::image::detail;
using namespace atelier::core;

BOOST_AUTO_TEST_SUITE(text_codes_test)

BOOST_AUTO_TEST_CASE(latin1_holds_what_it_can) {
  BOOST_TEST((to_latin1("gr\xC3\xBC\xC3\x9F") == "gr\xFC\xDF"));
  BOOST_TEST((to_latin1("\xC3\xBF") == "\xFF"));
  BOOST_TEST(!to_latin1("\xC4\x80"));
  BOOST_TEST(!to_latin1("\xE2\x82\xAC"));
  BOOST_TEST(from_latin1(as_bytes("gr\xFC\xDF")) == "gr\xC3\xBC\xC3\x9F");
}

BOOST_AUTO_TEST_CASE(utf16_uses_surrogate_pairs) {
  BOOST_TEST((to_utf16("A\xE2\x82\xAC\xF0\x9F\x8E\xA8")
              == bytes{0x00, 0x41, 0x20, 0xAC, 0xD8, 0x3C, 0xDF, 0xA8}));
}

BOOST_AUTO_TEST_CASE(every_code_point_survives_utf16) {
  const auto step =
    static_cast<char32_t>(1'000'000 / atelier::test::scaled(1'000'000));
  for (char32_t c = 0; c <= 0x10FFFF; c += step) {
    const auto text = to_utf8(c);
    auto units = to_utf16(text);
    BOOST_REQUIRE(from_utf16(units, byte_order::big) == text);
    for (size_t i = 0; i < units.size(); i += 2)
      std::swap(units[i], units[i + 1]);
    BOOST_REQUIRE(from_utf16(units, byte_order::little) == text);
  }
}

BOOST_AUTO_TEST_CASE(any_bytes_become_utf8) {
  philox random{atelier::test::seed(), purpose::test};
  for (size_t i = 0; i < atelier::test::scaled(100'000); ++i) {
    bytes any(random.below(20));
    for (auto& byte : any)
      byte = static_cast<uint8_t>(random.below(4) == 0 ? 0xD8 + random.below(8)
                                                       : random.below(256));
    BOOST_REQUIRE(!find_utf8_fault(from_utf16(any, byte_order::big)));
    BOOST_REQUIRE(!find_utf8_fault(from_utf16(any, byte_order::little)));
    BOOST_REQUIRE(!find_utf8_fault(from_latin1(any)));
    BOOST_REQUIRE(!find_utf8_fault(utf8_or_latin1(any)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
