// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/batching/tile_size.hpp>
#include <atelier/gpu/models/vae/coder_memory.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::gpu;

namespace {

constexpr uint64_t gib = uint64_t{1} << 30;

/// Stable Diffusion's autoencoder.
autoencoder_config published() {
  autoencoder_config x;
  x.block_out_channels = {128, 256, 512, 512};
  x.layers_per_block = 2;
  return x;
}

decode_need need_of(uint64_t height, uint64_t width) {
  return {height / 8,  width / 8, 8, decode_bytes(published(), {}),
          image_bytes, 4};
}

} // namespace

BOOST_AUTO_TEST_SUITE(tile_size)

BOOST_AUTO_TEST_CASE(an_image_that_fits_is_decoded_whole) {
  BOOST_TEST(tile_side(need_of(512, 512), 4 * gib).value() == 0u);
  BOOST_TEST(tile_side(need_of(2048, 2048), 40 * gib).value() == 0u);
}

BOOST_AUTO_TEST_CASE(a_larger_one_gets_the_greatest_tiles_that_fit) {
  const auto of = need_of(2048, 2048);
  for (uint64_t free = gib; free <= 12 * gib; free += gib / 4) {
    const auto side = tile_side(of, free);
    BOOST_REQUIRE(side);
    if (*side == 0) {
      BOOST_TEST(bytes_to_decode(of, 0) <= free);
      continue;
    }
    BOOST_TEST(*side % of.multiple == 0u);
    BOOST_TEST(*side >= least_tile);
    BOOST_TEST(*side < of.width);
    BOOST_TEST(bytes_to_decode(of, *side) <= free);
    const auto next = *side + of.multiple;
    BOOST_TEST(bytes_to_decode(of, next) > free / 10 * 8);
  }
}

BOOST_AUTO_TEST_CASE(an_image_too_large_for_the_smallest_tiles_has_none) {
  BOOST_TEST(!tile_side(need_of(2048, 2048), gib / 4));
  BOOST_TEST(!tile_side(need_of(64, 64), gib / 32));
  BOOST_TEST(!tile_side(need_of(512, 512), 0));
}

BOOST_AUTO_TEST_CASE(images_that_fit_together_are_decoded_together) {
  const auto small = need_of(512, 512);
  const auto large = need_of(1024, 1024);
  const auto others = bytes_to_decode(large, 0);
  BOOST_TEST(fits_beside(small, others, 8 * gib));
  BOOST_TEST(fits_beside(large, others, 8 * gib));
  BOOST_TEST(!fits_beside(large, others, 4 * gib));
  BOOST_TEST(tile_side(large, 4 * gib).value() == 0u);
}

BOOST_AUTO_TEST_CASE(long_images_are_cut_along_their_length) {
  const auto side = tile_side(need_of(256, 8192), 2 * gib);
  BOOST_REQUIRE(side);
  BOOST_TEST(*side > 32u);
}

BOOST_AUTO_TEST_CASE(tiles_shrink_to_the_smallest) {
  const auto of = need_of(2048, 2048);
  auto side = smaller_tile(of, 0);
  uint64_t before = 256;
  while (side) {
    BOOST_TEST(*side < before);
    BOOST_TEST(*side >= least_tile);
    before = *side;
    side = smaller_tile(of, *side);
  }
  BOOST_TEST(before == least_tile);
  BOOST_TEST(!smaller_tile(need_of(256, 256), 0));
}

BOOST_AUTO_TEST_CASE(stripes_save_memory_and_encoding_needs_less) {
  const auto x = published();
  BOOST_TEST(decode_bytes(x, {4, true}) < decode_bytes(x, {4, false}));
  BOOST_TEST(2 * decode_bytes(x, {2, false}) == decode_bytes(x, {4, false}));
  BOOST_TEST(encode_bytes(x, {4, true}) < decode_bytes(x, {4, true}));
}

BOOST_AUTO_TEST_SUITE_END()
