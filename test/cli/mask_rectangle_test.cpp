// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/runtime/cli/mask_rectangle.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::runtime::cli;

namespace {

std::vector<uint8_t> image_of(core::extent px) {
  const std::vector<uint8_t> pixels(3 * px.pixels(), 70);
  return *image::encode({px, 3, pixels}, {});
}

} // namespace

BOOST_AUTO_TEST_SUITE(mask_rectangle_test)

BOOST_AUTO_TEST_CASE(a_rectangle_is_told_from_a_name) {
  const auto x = parse_rectangle("64x32+8+0");
  BOOST_TEST_REQUIRE(x.has_value());
  BOOST_TEST(x->width == 64u);
  BOOST_TEST(x->height == 32u);
  BOOST_TEST(x->left == 8u);
  BOOST_TEST(x->top == 0u);
  for (const auto* text : {"", "mask.png", "64x32", "64x32+8", "64x32+8+",
                           "64x32+8+0 ", " 64x32+8+0", "-64x32+8+0",
                           "64x32+8+0.png", "64x32+8-1", "4294967296x1+0+0"})
    BOOST_TEST(!parse_rectangle(text).has_value(), text);
}

BOOST_AUTO_TEST_CASE(a_mask_is_white_in_its_part_alone) {
  const auto file = mask_of({3, 2, 4, 5}, image_of({8, 16}));
  BOOST_TEST_REQUIRE(file.operator bool());
  const auto mask = *image::decode(*file);
  BOOST_TEST((mask.px == core::extent{8, 16}));
  for (uint32_t y = 0; y < 16; ++y)
    for (uint32_t x = 0; x < 8; ++x) {
      const bool inside = x >= 4 && x < 7 && y >= 5 && y < 7;
      for (size_t c = 0; c < 3; ++c)
        BOOST_TEST(mask.bytes[3 * (y * 8 + x) + c] == (inside ? 255 : 0));
    }
  BOOST_TEST(mask_of({8, 16, 0, 0}, image_of({8, 16})).operator bool());
}

BOOST_AUTO_TEST_CASE(a_part_outside_the_image_is_refused) {
  const auto image = image_of({8, 16});
  for (const auto& part : {rectangle{0, 1, 0, 0},
                           {1, 0, 0, 0},
                           {9, 1, 0, 0},
                           {8, 1, 1, 0},
                           {1, 1, 8, 0},
                           {1, 1, 0, 16},
                           {1, 17, 0, 0},
                           {UINT32_MAX, 1, 2, 0},
                           {1, 1, UINT32_MAX, 0}}) {
    const auto none = mask_of(part, image);
    BOOST_TEST_REQUIRE(!none);
    BOOST_TEST((none.why().code == core::ec::invalid_argument));
    BOOST_TEST(none.why().text.ends_with("which has 8x16 pixels"),
               none.why().text);
  }
  BOOST_TEST(!mask_of({1, 1, 0, 0}, {}));
}

BOOST_AUTO_TEST_SUITE_END()
