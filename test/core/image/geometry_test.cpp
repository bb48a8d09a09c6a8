// SPDX-License-Identifier: Apache-2.0
#include "core/image/sample.hpp"
#include <atelier/core/image/geometry.hpp>
#include <atelier/core/sha256.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace atelier::image;
using atelier::core::ec;
using atelier::core::extent;
using atelier::core::philox;
using atelier::core::purpose;

namespace {

// Returns the image whose scaled forms below were made by Pillow 13.
bitmap sample(extent px) {
  bitmap x{px, 3, {}};
  for (uint32_t row = 0; row < px.height; ++row)
    for (uint32_t column = 0; column < px.width; ++column)
      for (uint32_t c = 0; c < 3; ++c)
        x.bytes.push_back(static_cast<uint8_t>(37 * column + 91 * row + 53 * c
                                               + 17 * column * row));
  return x;
}

bitmap resized(const bitmap& x, extent to) {
  auto result = resize(x.view(), to);
  BOOST_REQUIRE(result);
  BOOST_TEST((result->px == to));
  BOOST_TEST(result->channels == x.channels);
  return *std::move(result);
}

std::string sum_of(const bitmap& x) {
  return atelier::core::sha256_hex(std::as_bytes(std::span(x.bytes)));
}

// Returns an image of two by three pixels whose first channel numbers them.
bitmap numbered() {
  bitmap x{{2, 3}, 3, {}};
  for (uint8_t i = 0; i < 6; ++i)
    x.bytes.insert(x.bytes.end(), {i, 100, 200});
  return x;
}

std::string numbers_of(const bitmap& x) {
  std::string text;
  for (size_t i = 0; i < x.px.pixels(); ++i) {
    if (i > 0 && i % x.px.width == 0)
      text += '/';
    text += static_cast<char>('0' + x.bytes[i * x.channels]);
  }
  return text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(geometry_test)

BOOST_AUTO_TEST_CASE(small_images_are_those_of_pillow) {
  const auto x = sample({5, 4});
  BOOST_TEST(
    (resized(x, {3, 2}).bytes
     == std::vector<uint8_t>{81, 124, 156, 142, 155, 151, 147, 126, 179, 143,
                             141, 124, 147, 165, 136, 123, 98, 150}));
  BOOST_TEST((resized(x, {1, 1}).bytes == std::vector<uint8_t>{127, 138, 148}));
  const auto wide = resized(x, {8, 8}).bytes;
  BOOST_TEST(
    (std::vector<uint8_t>(wide.begin(), wide.begin() + 12)
     == std::vector<uint8_t>{0, 43, 86, 3, 52, 94, 29, 72, 128, 47, 92, 180}));
}

BOOST_AUTO_TEST_CASE(larger_images_are_those_of_pillow) {
  const auto x = sample({61, 43});
  BOOST_TEST(
    sum_of(resized(x, {16, 24}))
    == "51227eb251b51f4d975403c3c8e92a96df42cddb2ae8fb75c124f22baf7fe35d");
  BOOST_TEST(
    sum_of(resized(x, {200, 8}))
    == "6c5b8cb6ebbfb1d6a218d60407da39ebe20a8b8675c7fd37ffc2408a6c0e2e76");
  BOOST_TEST(
    sum_of(resized(x, {64, 64}))
    == "fa9d09505ce68d1724da501198a8942fd0d8c71ce03ae27094b521cbf3da09b2");
}

BOOST_AUTO_TEST_CASE(the_same_size_is_the_same_image) {
  philox random{1, purpose::test};
  for (uint32_t channels : {3u, 4u}) {
    const auto x = test::noise({17, 9}, channels, random);
    BOOST_TEST((resized(x, x.px) == x));
  }
}

BOOST_AUTO_TEST_CASE(one_colour_stays_that_colour_at_every_size) {
  bitmap x{{13, 7}, 3, std::vector<uint8_t>(13 * 7 * 3, 201)};
  for (const extent to : {extent{1, 1}, {8, 200}, {200, 1}, {640, 480}})
    for (const auto byte : resized(x, to).bytes)
      BOOST_REQUIRE(byte == 201);
}

BOOST_AUTO_TEST_CASE(a_channel_does_not_depend_on_the_others) {
  philox random{2, purpose::test};
  const auto x = test::noise({30, 20}, 4, random);
  const auto colours = [](const bitmap& from) {
    bitmap out{from.px, 3, {}};
    for (size_t i = 0; i < from.bytes.size(); ++i)
      if (i % 4 != 3)
        out.bytes.push_back(from.bytes[i]);
    return out;
  };
  BOOST_TEST((colours(resized(x, {12, 33})) == resized(colours(x), {12, 33})));
}

BOOST_AUTO_TEST_CASE(what_has_no_form_is_refused) {
  const auto x = sample({5, 4});
  BOOST_TEST((resize(x.view(), {0, 4}).why().code == ec::invalid_argument));
  auto view = x.view();
  view.px.width = 6;
  BOOST_TEST((resize(view, {4, 4}).why().code == ec::invalid_argument));
  view = {{0, 0}, 3, {}};
  BOOST_TEST((resize(view, {4, 4}).why().code == ec::invalid_argument));
}

BOOST_AUTO_TEST_CASE(every_orientation_is_turned_upright) {
  const char* const expected[] = {"01/23/45", "01/23/45", "10/32/54",
                                  "54/32/10", "45/23/01", "024/135",
                                  "420/531",  "531/420",  "135/024"};
  for (uint32_t i = 0; i <= 8; ++i)
    BOOST_TEST(numbers_of(upright(numbered(), i)) == expected[i]);
  BOOST_TEST(numbers_of(upright(numbered(), 9)) == "01/23/45");
}

BOOST_AUTO_TEST_CASE(transparent_colours_are_hidden_by_white) {
  const bitmap x{{3, 1}, 4, {1, 2, 3, 0, 4, 5, 6, 255, 0, 100, 255, 51}};
  BOOST_TEST(
    (opaque(x) == bitmap{{3, 1}, 3, {255, 255, 255, 4, 5, 6, 204, 224, 255}}));
  BOOST_TEST((opaque(numbered()) == numbered()));
}

BOOST_AUTO_TEST_CASE(half_of_the_light_divides_black_from_white) {
  const bitmap x{{4, 1},
                 3,
                 {127, 127, 127, 128, 128, 128,
                  // Green has the largest weight, blue the smallest.
                  0, 255, 0, 0, 0, 255}};
  BOOST_TEST((binarize(x.view()) == std::vector<uint8_t>{0, 255, 255, 0}));
  BOOST_TEST((binarized(x) == bitmap{{4, 1}, 1, {0, 255, 255, 0}}));
  const bitmap clear{{2, 1}, 4, {255, 255, 255, 0, 0, 0, 0, 255}};
  BOOST_TEST((binarized(clear) == bitmap{{2, 1}, 1, {255, 0}}));
}

BOOST_AUTO_TEST_SUITE_END()
