// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/batch_queue.hpp>
#include <atelier/training/loops/image_batch.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(image_batches)

BOOST_AUTO_TEST_CASE(a_batch_depends_on_seed_and_number_alone) {
  const image_batch_shape shape;
  batch_queue<image_batch> one{
    [&](uint64_t n) { return draw_image_batch(4, n, shape); }, 0, 1, 3};
  batch_queue<image_batch> three{
    [&](uint64_t n) { return draw_image_batch(4, n, shape); }, 0, 3, 5};
  image_batch before;
  for (uint64_t n = 0; n < 6; ++n) {
    const auto x = one.next();
    BOOST_TEST((x.pixels == three.next().pixels));
    BOOST_TEST((x.pixels == draw_image_batch(4, n, shape).pixels));
    BOOST_TEST((x.pixels != draw_image_batch(5, n, shape).pixels));
    BOOST_TEST((x.pixels != before.pixels));
    before = x;
  }
}

BOOST_AUTO_TEST_CASE(every_so_many_batches_one_is_of_whole_images) {
  image_batch_shape shape;
  shape.whole_every = 3;
  for (uint64_t n = 0; n < 6; ++n) {
    const auto x = draw_image_batch(1, n, shape);
    const auto whole = n % 3 == 2;
    BOOST_TEST(x.side == (whole ? 128u : 64u));
    BOOST_TEST(x.count == (whole ? 4u : 16u));
    BOOST_TEST(x.pixels.size() == size_t{x.count} * 3 * x.side * x.side);
  }
}

BOOST_AUTO_TEST_CASE(nearly_every_cut_has_much_of_an_object) {
  const image_batch_shape shape;
  uint32_t flat = 0, all = 0;
  for (uint64_t n = 0; n < 20; ++n) {
    const auto x = draw_image_batch(2, n, shape);
    if (x.side != shape.crop_side)
      continue;
    const auto size = size_t{3} * x.side * x.side;
    for (size_t i = 0; i < x.count; ++i, ++all) {
      const auto begin = x.pixels.begin() + static_cast<long>(i * size);
      const auto [low, high] =
        std::minmax_element(begin, begin + static_cast<long>(size / 3));
      if (*high - *low < 0.05f)
        ++flat;
      BOOST_REQUIRE(*low >= -1 && *high <= 1);
    }
  }
  BOOST_TEST_MESSAGE(flat << " of " << all << " cuts have a flat red channel");
  BOOST_TEST(10 * flat < all);
}

BOOST_AUTO_TEST_SUITE_END()
