// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/training/caption.hpp>
#include <atelier/training/draw_scene.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(draw_scene_test)

namespace {

core::philox generator(uint64_t number) {
  return core::philox{test::seed(), core::purpose::test,
                      core::request_id{number}};
}

size_t held_out_objects(const scene& x) {
  return static_cast<size_t>(
    std::ranges::count_if(x.objects, [](const scene_object& o) {
      return held_out(o.shape, o.colour, place_at(o.centre));
    }));
}

// Each count must be within five standard deviations, and a share, of its
// expectation.
void check_even(const std::vector<size_t>& counts, double share,
                const std::string& what) {
  auto sum = 0.0;
  for (const auto x : counts)
    sum += static_cast<double>(x);
  const auto expected = sum / static_cast<double>(counts.size());
  for (auto i = size_t{0}; i < counts.size(); ++i) {
    const auto off = std::abs(static_cast<double>(counts[i]) - expected);
    BOOST_TEST(off <= 5 * std::sqrt(expected) + share * expected,
               what << " " << i << ": " << counts[i] << " instead of "
                    << expected);
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(every_scene_is_without_fault_and_in_its_split) {
  const auto count = test::scaled(100'000);
  for (auto i = size_t{0}; i < count; ++i) {
    auto from = generator(i);
    for (const auto split : {scene_split::training, scene_split::held_out}) {
      const auto x = draw_scene(from, {static_cast<uint32_t>(i % 4), split});
      const auto fault = fault_of(x);
      BOOST_TEST(!fault.has_value(), i << ": " << fault.value_or(""));
      if (i % 4 != 0)
        BOOST_TEST(x.objects.size() == i % 4);
      const auto held = held_out_objects(x);
      BOOST_TEST(held
                 == (split == scene_split::training ? 0 : x.objects.size()));
    }
  }
}

BOOST_AUTO_TEST_CASE(draws_are_balanced) {
  const auto count = test::scaled(200'000);
  for (uint32_t objects = 1; objects <= most_objects; ++objects) {
    std::vector<size_t> shapes(shape_count), colours(colour_count),
      sizes(size_count), places(place_count), textures(texture_count),
      backgrounds(background_colour_count);
    for (auto i = size_t{0}; i < count; ++i) {
      auto from = generator(i * 4 + objects);
      const auto x = draw_scene(from, {objects, scene_split::training});
      ++backgrounds[static_cast<size_t>(x.background.from)];
      for (const auto& o : x.objects) {
        ++shapes[static_cast<size_t>(o.shape)];
        ++colours[static_cast<size_t>(o.colour)];
        ++sizes[static_cast<size_t>(o.size)];
        ++places[static_cast<size_t>(place_at(o.centre))];
        ++textures[static_cast<size_t>(o.texture)];
      }
    }
    const auto of = " of " + std::to_string(objects);
    // Held-out scenes, and scenes that seldom fit, change these a little.
    check_even(shapes, 0.03, "shape" + of);
    check_even(colours, 0.03, "colour" + of);
    check_even(sizes, 0.01, "size" + of);
    check_even(places, 0.01, "place" + of);
    // Plain is twice as likely as each pattern.
    textures[0] /= 2;
    check_even(textures, 0.02, "texture" + of);
    // Objects exclude some backgrounds.
    check_even(backgrounds, 0.35, "background" + of);
  }
}

BOOST_AUTO_TEST_CASE(the_same_stream_draws_the_same_scenes) {
  auto one = generator(1);
  auto other = generator(1);
  for (auto i = 0; i < 20; ++i)
    BOOST_TEST((draw_scene(one) == draw_scene(other)));
}

BOOST_AUTO_TEST_CASE(known_seeds_draw_known_scenes) {
  core::philox from{7, core::purpose::test};
  const auto x = draw_scene(from, {2, scene_split::training});
  BOOST_TEST(word_plainly(describe_all(x))
             == "a large striped orange crescent on the right and a small "
                "plain white cross at the bottom on a black background");
}

BOOST_AUTO_TEST_SUITE_END()
