// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/image/geometry.hpp>
#include <atelier/core/image/native_fit.hpp>
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

using namespace atelier;
using namespace atelier::image;
using core::extent;

namespace {

bitmap drawn(extent px, uint32_t channels = 3, uint64_t seed = 1) {
  core::philox from{seed, core::purpose::test};
  bitmap x{px, channels, {}};
  x.bytes.resize(bytes_of(px, channels));
  for (auto& b : x.bytes)
    b = static_cast<uint8_t>(from.below(256));
  return x;
}

bitmap cut(const bitmap& x, uint32_t left, uint32_t top, extent px) {
  bitmap out{px, x.channels, {}};
  for (uint32_t row = 0; row < px.height; ++row) {
    const auto at = (size_t{top + row} * x.px.width + left) * x.channels;
    out.bytes.insert(out.bytes.end(), x.bytes.data() + at,
                     x.bytes.data() + at + size_t{px.width} * x.channels);
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(native_fit_test)

BOOST_AUTO_TEST_CASE(the_larger_factor_counts_and_the_centre_remains) {
  const extent native{128, 128};
  BOOST_TEST((covering_of(native, {512, 512}) == covering{{512, 512}, 0, 0}));
  BOOST_TEST(
    (covering_of(native, {1024, 512}) == covering{{1024, 1024}, 0, 256}));
  BOOST_TEST(
    (covering_of(native, {256, 1000}) == covering{{1000, 1000}, 372, 0}));
  BOOST_TEST((covering_of(native, {64, 64}) == covering{{64, 64}, 0, 0}));
  BOOST_TEST((covering_of({96, 64}, {96, 72}) == covering{{108, 72}, 6, 0}));
  BOOST_TEST(
    (covering_of(native, {8, 2048}) == covering{{2048, 2048}, 1020, 0}));
}

BOOST_AUTO_TEST_CASE(the_part_is_that_of_the_whole_to_the_bit) {
  const auto from = drawn({32, 32});
  for (const extent asked :
       {extent{64, 64}, {64, 32}, {24, 72}, {100, 8}, {16, 16}, {33, 31}}) {
    const auto how = covering_of(from.px, asked);
    const auto whole = resize(from.view(), how.scaled);
    const auto part = cover(from.view(), asked);
    BOOST_TEST_REQUIRE((whole && part));
    BOOST_TEST((*part == cut(*whole, how.left, how.top, asked)),
               asked.width << "x" << asked.height);
  }
}

BOOST_AUTO_TEST_CASE(an_image_of_that_size_stays_as_it_is) {
  const auto from = drawn({32, 24});
  BOOST_TEST((*cover(from.view(), from.px) == from));
  BOOST_TEST((*uncover(from.view(), from.px) == from));
}

BOOST_AUTO_TEST_CASE(the_way_back_is_a_resize_of_the_image_with_its_edges) {
  const auto from = drawn({64, 24});
  // 20 rows above and below repeat the edges.
  bitmap square{{64, 64}, 3, {}};
  for (int y = 0; y < 64; ++y) {
    const auto row = static_cast<size_t>(std::clamp(y - 20, 0, 23));
    const auto* at = from.bytes.data() + row * 64 * 3;
    square.bytes.insert(square.bytes.end(), at, at + 64 * 3);
  }
  const auto expected = resize(square.view(), {16, 16});
  BOOST_TEST((*uncover(from.view(), {16, 16}) == *expected));
}

BOOST_AUTO_TEST_CASE(a_colour_survives_both_ways) {
  const bitmap blue{
    {200, 56}, 3, std::vector<uint8_t>(size_t{200} * 56 * 3, 130)};
  const auto down = uncover(blue.view(), {128, 128});
  BOOST_TEST_REQUIRE(down.operator bool());
  BOOST_TEST(std::ranges::all_of(down->bytes, [](auto b) { return b == 130; }));
  const auto up = cover(down->view(), {200, 56});
  BOOST_TEST((*up == blue));
}

BOOST_AUTO_TEST_CASE(a_mask_covers_all_that_it_covered) {
  const extent px{64, 32};
  const extent native{16, 16};
  std::vector<uint8_t> mask(px.pixels(), 0);
  BOOST_TEST(std::ranges::count(uncover_mask(mask, px, native), 0) == 256);
  // One pixel is enough.
  mask[10 * 64 + 33] = 255;
  const auto one = uncover_mask(mask, px, native);
  BOOST_TEST(std::ranges::count(one, 255) == 1);
  BOOST_TEST(one[(10 + 16) / 4 * 16 + 33 / 4] == 255);
  // The edges of the image are continued outside it.
  std::ranges::fill(mask, 255);
  BOOST_TEST(std::ranges::count(uncover_mask(mask, px, native), 255) == 256);
  const std::vector<uint8_t> small(8 * 8, 255);
  BOOST_TEST(std::ranges::count(uncover_mask(small, {8, 8}, native), 255)
             == 256);
}

BOOST_AUTO_TEST_CASE(what_is_not_masked_is_kept_to_the_bit) {
  auto over = drawn({8, 8}, 3, 2);
  const auto before = over;
  const auto kept = drawn({8, 8}, 3, 3);
  std::vector<uint8_t> mask(64, 0);
  mask[5] = 255;
  keep_unmasked(over, kept.bytes, mask);
  for (size_t i = 0; i < 64; ++i)
    for (size_t c = 0; c < 3; ++c)
      BOOST_TEST(over.bytes[3 * i + c]
                 == (i == 5 ? before : kept).bytes[3 * i + c]);
}

BOOST_AUTO_TEST_CASE(any_sizes_go_both_ways) {
  const auto count = atelier::test::scaled(2'000);
  for (size_t i = 0; i < count; ++i) {
    core::philox from{atelier::test::seed(), core::purpose::test,
                      core::request_id{i}};
    const auto side = [&] { return 1 + static_cast<uint32_t>(from.below(40)); };
    const extent native{side(), side()};
    const extent asked{side(), side()};
    const auto up = cover(drawn(native, 3, i).view(), asked);
    BOOST_TEST_REQUIRE(up.operator bool());
    BOOST_TEST((up->px == asked));
    const auto down = uncover(up->view(), native);
    BOOST_TEST_REQUIRE(down.operator bool());
    BOOST_TEST((down->px == native));
    const std::vector<uint8_t> mask(asked.pixels(), 255);
    BOOST_TEST(uncover_mask(mask, asked, native).size() == native.pixels());
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
  const auto from = drawn({8, 8});
  BOOST_TEST(!cover(from.view(), {0, 8}));
  BOOST_TEST(!uncover(from.view(), {8, 0}));
  BOOST_TEST(!cover({{8, 8}, 3, {}}, {8, 8}));
  BOOST_TEST(!cover({{8, 8}, 1, from.bytes}, {8, 8}));
}

BOOST_AUTO_TEST_SUITE_END()
