// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/a1111/mask_work.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>

using namespace atelier;
using namespace atelier::runtime::http::detail;

namespace {

image::bitmap plain(core::extent px, uint8_t value, uint32_t channels = 3) {
  return {px, channels,
          std::vector<uint8_t>(image::bytes_of(px, channels), value)};
}

soft_mask mask_with(core::extent px, const region& white) {
  soft_mask m{px, std::vector<uint8_t>(px.pixels(), 0)};
  for (uint32_t y = 0; y < white.px.height; ++y)
    for (uint32_t x = 0; x < white.px.width; ++x)
      m.bytes[size_t{white.y + y} * px.width + white.x + x] = 255;
  return m;
}

uint8_t at(const image::bitmap& x, uint32_t column, uint32_t row) {
  return x.bytes[(size_t{row} * x.px.width + column) * x.channels];
}

} // namespace

BOOST_AUTO_TEST_SUITE(mask_work_test)

BOOST_AUTO_TEST_CASE(masks_are_light_or_opaque) {
  auto rgb = plain({2, 1}, 0);
  rgb.bytes[3] = rgb.bytes[4] = rgb.bytes[5] = 255;
  BOOST_TEST((mask_of(rgb).bytes == std::vector<uint8_t>{0, 255}));
  auto rgba = plain({2, 1}, 255, 4);
  BOOST_TEST((mask_of(rgba).bytes == std::vector<uint8_t>{255, 255}));
  rgba.bytes[7] = 0;
  BOOST_TEST((mask_of(rgba).bytes == std::vector<uint8_t>{255, 0}));
  auto m = mask_of(rgba);
  invert(m);
  BOOST_TEST((m.bytes == std::vector<uint8_t>{0, 255}));
}

BOOST_AUTO_TEST_CASE(a_blur_is_near_the_curve_of_its_deviation) {
  // An edge becomes the integral of the curve.
  constexpr uint32_t width = 200;
  for (const double deviation : {2.0, 4.0, 9.0}) {
    auto m = mask_with({width, 3}, {100, 0, {100, 3}});
    blur(m, deviation, 0);
    double worst = 0;
    for (uint32_t x = 0; x < width; ++x) {
      const auto wanted =
        255 * 0.5 * std::erfc((99.5 - x) / (deviation * std::sqrt(2.0)));
      worst = std::max(worst, std::abs(wanted - m.bytes[x]));
      BOOST_TEST(m.bytes[x] == m.bytes[2 * width + x]);
    }
    BOOST_TEST(worst < 8);
  }
  // The blur is the same in both directions.
  auto flat = mask_with({3, 200}, {0, 100, {3, 100}});
  auto side = mask_with({200, 3}, {100, 0, {100, 3}});
  blur(flat, 0, 4);
  blur(side, 4, 0);
  for (size_t i = 0; i < 200; ++i)
    BOOST_TEST(flat.bytes[i * 3] == side.bytes[i]);
  // A deviation of 0 changes nothing.
  const auto sharp = mask_with({10, 10}, {2, 2, {3, 3}});
  auto same = sharp;
  blur(same, 0, 0);
  BOOST_TEST(same.bytes == sharp.bytes);
}

BOOST_AUTO_TEST_CASE(regions_hold_the_mask_in_the_wanted_proportions) {
  const core::extent square{64, 64};
  BOOST_TEST(!region_of(mask_with({50, 50}, {}), 3, square).has_value());
  const auto found = [&](const region& white, uint32_t padding,
                         core::extent like = {64, 64}) {
    return *region_of(mask_with({100, 80}, white), padding, like);
  };
  BOOST_TEST((found({10, 20, {10, 10}}, 0) == region{10, 20, {10, 10}}));
  BOOST_TEST((found({10, 20, {10, 10}}, 5) == region{5, 15, {20, 20}}));
  // A region that is wider than high grows both up and down.
  BOOST_TEST((found({10, 20, {20, 10}}, 0) == region{10, 15, {20, 20}}));
  // At an edge it grows in the other direction.
  BOOST_TEST((found({0, 0, {20, 10}}, 0) == region{0, 0, {20, 20}}));
  BOOST_TEST((found({60, 70, {20, 10}}, 0) == region{60, 60, {20, 20}}));
  // The image's size limits the region.
  BOOST_TEST((found({0, 30, {100, 10}}, 0) == region{0, 0, {100, 80}}));
  BOOST_TEST(
    (found({40, 20, {10, 10}}, 0, {128, 64}) == region{35, 20, {20, 10}}));
  BOOST_TEST((found({0, 0, {100, 80}}, 50) == region{0, 0, {100, 80}}));
}

BOOST_AUTO_TEST_CASE(the_masked_part_is_filled_from_around_it) {
  auto x = plain({32, 32}, 100);
  const auto mask = mask_with({32, 32}, {8, 8, {16, 16}});
  for (size_t i = 0; i < mask.bytes.size(); ++i)
    if (mask.bytes[i] != 0)
      x.bytes[i * 3] = 255;
  fill_masked(x, mask);
  BOOST_TEST((x == plain({32, 32}, 100)));
  // If everything is masked, no pixel is known.
  const auto whole = plain({8, 8}, 7);
  auto same = whole;
  fill_masked(same, mask_with({8, 8}, {0, 0, {8, 8}}));
  BOOST_TEST((same == whole));
}

BOOST_AUTO_TEST_CASE(blending_leaves_what_is_not_masked) {
  auto canvas = plain({10, 10}, 50);
  auto mask = mask_with({10, 10}, {4, 4, {2, 2}});
  mask.bytes[5 * 10 + 6] = 128;
  blend(canvas, plain({6, 6}, 250), {2, 2, {6, 6}}, mask);
  BOOST_TEST(at(canvas, 4, 4) == 250);
  BOOST_TEST(at(canvas, 5, 5) == 250);
  BOOST_TEST(at(canvas, 6, 5) == 150);
  BOOST_TEST(at(canvas, 3, 4) == 50);
  BOOST_TEST(at(canvas, 9, 9) == 50);
}

BOOST_AUTO_TEST_CASE(images_are_resized_in_three_ways) {
  // The left half is dark, the right half light.
  auto x = plain({40, 20}, 0);
  for (uint32_t row = 0; row < 20; ++row)
    for (size_t i = (row * 40 + 20) * 3; i < (row * 40 + 40) * 3; ++i)
      x.bytes[i] = 200;
  const core::extent to{16, 16};
  for (const auto how :
       {resize_mode::stretch, resize_mode::crop, resize_mode::fill}) {
    const auto got = resize_as(how, x, to);
    BOOST_TEST_REQUIRE(got.operator bool());
    BOOST_TEST((got->px == to));
    BOOST_TEST(got->bytes.size() == 16u * 16 * 3);
    BOOST_TEST(at(*got, 0, 8) < 20);
    BOOST_TEST(at(*got, 15, 8) > 180);
    // The edge is continued above and below.
    BOOST_TEST(at(*got, 0, 0) == at(*got, 0, 8));
    BOOST_TEST(at(*got, 15, 0) == at(*got, 15, 8));
  }
  // A sliver is cut before it is scaled.
  const auto thin = resize_as(resize_mode::crop, plain({1000, 1}, 9), to);
  BOOST_TEST_REQUIRE(thin.operator bool());
  BOOST_TEST((*thin == plain(to, 9)));
}

BOOST_AUTO_TEST_CASE(a_mask_is_resized_as_its_image_would_be) {
  const auto mask = mask_with({50, 30}, {7, 5, {21, 13}});
  for (const auto how :
       {resize_mode::stretch, resize_mode::crop, resize_mode::fill})
    for (const core::extent to :
         {core::extent{50, 30}, {16, 16}, {99, 7}, {8, 64}}) {
      const auto got = resize_mask(how, mask, to);
      const auto whole = resize_as(how, image_of(mask), to);
      BOOST_TEST_REQUIRE(got.operator bool());
      BOOST_TEST_REQUIRE(whole.operator bool());
      BOOST_TEST((got->px == to));
      BOOST_TEST((got->bytes == mask_of(*whole).bytes));
    }
}

BOOST_AUTO_TEST_CASE(work_on_pixels_stops_when_it_is_told) {
  const auto got = resize_as(resize_mode::stretch, plain({64, 64}, 9), {16, 16},
                             [] { return true; });
  BOOST_TEST_REQUIRE(!got);
  BOOST_TEST((got.why().code == core::ec::bad_payload));
}

BOOST_AUTO_TEST_CASE(a_part_is_cut_out) {
  auto x = plain({4, 3}, 0);
  std::iota(x.bytes.begin(), x.bytes.end(), uint8_t{0});
  const auto part = cut(x, {1, 1, {2, 1}});
  BOOST_TEST((part.bytes == std::vector<uint8_t>{15, 16, 17, 18, 19, 20}));
}

BOOST_AUTO_TEST_SUITE_END()
