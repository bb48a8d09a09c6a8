// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/image/detail/exif.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/core/utf8.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::image::detail;
using namespace atelier::core;
using namespace std::string_view_literals;

namespace {

// Returns a little-endian block as cameras write it, with that comment.
bytes little_endian(std::string_view comment) {
  bytes block;
  append(block, as_bytes("II*\0\x08\0\0\0"sv));
  append(block, as_bytes("\x01\0\x69\x87\x04\0\x01\0\0\0\x1A\0\0\0"sv));
  append(block, as_bytes("\0\0\0\0\x01\0\x86\x92\x07\0"sv));
  append_le32(block, static_cast<uint32_t>(comment.size()));
  append(block, as_bytes("\x2C\0\0\0\0\0\0\0"sv));
  append(block, as_bytes(comment));
  return block;
}

} // namespace

BOOST_AUTO_TEST_SUITE(exif_test)

// Source: piexif.dump of the same text, without its six leading bytes.
BOOST_AUTO_TEST_CASE(block_is_that_of_the_web_ui) {
  const auto expected =
    "MM\0*\0\0\0\x08\0\x01\x87\x69\0\x04\0\0\0\x01\0\0\0\x1A\0\0\0\0"
    "\0\x01\x92\x86\0\x07\0\0\0\x0C\0\0\0\x2C\0\0\0\0UNICODE\0\0H\0i"sv;
  BOOST_TEST((as_text(make_exif("Hi")) == expected));
}

BOOST_AUTO_TEST_CASE(the_orientation_is_read_in_both_byte_orders) {
  const auto little = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"
                      "\x06\0\0\0\0\0\0\0"sv;
  const auto big = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01"
                   "\0\x08\0\0\0\0\0\0"sv;
  BOOST_TEST((read_orientation(as_bytes(little)) == 6u));
  BOOST_TEST((read_orientation(as_bytes(big)) == 8u));
  for (size_t n = 0; n < little.size() - 4; ++n)
    BOOST_TEST(!read_orientation(as_bytes(little.substr(0, n))));
  std::string none{big};
  none[19] = 9;
  BOOST_TEST(!read_orientation(as_bytes(none)));
  BOOST_TEST(!read_orientation(make_exif("no orientation")));
}

BOOST_AUTO_TEST_CASE(comments_of_other_writers_are_read) {
  const std::pair<std::string_view, std::string_view> cases[] = {
    {"UNICODE\0\0H\0i"sv, "Hi"},
    {"UNICODE\0H\0i\0"sv, "Hi"},
    {"UNICODE\0\xFE\xFF\0H\0i"sv, "Hi"},
    {"UNICODE\0\xFF\xFEH\0i\0"sv, "Hi"},
    {"UNICODE\0"sv, ""},
    {"ASCII\0\0\0Hi"sv, "Hi"},
    {"\0\0\0\0\0\0\0\0H\xC3\xBC"sv, "H\xC3\xBC"},
    {"\0\0\0\0\0\0\0\0H\xFC"sv, "H\xC3\xBC"},
    {"no code at all"sv, "no code at all"},
  };
  for (const auto& [comment, text] : cases)
    BOOST_TEST((read_exif(little_endian(comment)) == std::string{text}));
}

BOOST_AUTO_TEST_CASE(faulty_blocks_have_no_comment) {
  BOOST_TEST(!read_exif({}));
  BOOST_TEST(!read_exif(as_bytes("MM\0*\0\0\0\xFF"sv)));
  BOOST_TEST(!read_exif(as_bytes("XX\0*\0\0\0\x08"sv)));
  const auto good = make_exif("text");
  for (size_t n = 0; n < good.size(); ++n)
    BOOST_TEST(!read_exif(bytes_view{good}.first(n)));
}

BOOST_AUTO_TEST_CASE(changed_bytes_do_not_crash) {
  philox random{atelier::test::seed(), purpose::test};
  const auto good = make_exif("a text of some length \xF0\x9F\x8E\xA8");
  for (size_t i = 0; i < atelier::test::scaled(1'000'000); ++i) {
    auto block = good;
    for (uint64_t k = 1 + random.below(4); k > 0; --k)
      block[random.below(block.size())] =
        static_cast<uint8_t>(random.next_u32());
    if (const auto text = read_exif(block))
      BOOST_REQUIRE(!find_utf8_fault(*text));
  }
}

BOOST_AUTO_TEST_SUITE_END()
