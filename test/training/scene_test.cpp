// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/palette.hpp>
#include <atelier/training/contrast.hpp>
#include <atelier/training/scene.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>

using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(scene_test)

namespace {

bool holds_clearly(relation what, scene_point subject, scene_point other) {
  return holds(what, subject, other, other, relation_rule::clear);
}

scene two_objects() {
  scene x;
  x.objects.resize(2);
  x.objects[0].centre = {30, 30};
  x.objects[1].centre = {98, 30};
  x.objects[1].colour = object_colour::blue;
  return x;
}

} // namespace

BOOST_AUTO_TEST_CASE(places_are_where_their_names_say) {
  BOOST_TEST((place_at({30, 30}) == grid_place::top_left));
  BOOST_TEST((place_at({98, 64}) == grid_place::right));
  BOOST_TEST((place_at({60, 101}) == grid_place::bottom));
  for (auto i = size_t{0}; i < place_count; ++i) {
    const auto place = static_cast<grid_place>(i);
    BOOST_TEST((place_at(centre_of(place)) == place));
  }
}

BOOST_AUTO_TEST_CASE(relations_are_seen_from_the_subject) {
  const scene_point upper{64, 30};
  const scene_point lower{64, 98};
  BOOST_TEST(holds_clearly(relation::above, upper, lower));
  BOOST_TEST(!holds_clearly(relation::above, lower, upper));
  BOOST_TEST(holds_clearly(relation::below, lower, upper));
  BOOST_TEST(holds_clearly(relation::left_of, {30, 64}, {98, 98}));
  BOOST_TEST(holds_clearly(relation::right_of, {98, 98}, {30, 64}));
}

BOOST_AUTO_TEST_CASE(a_diagonal_is_no_clear_relation_but_a_tolerable_one) {
  const scene_point at{30, 30};
  const scene_point other{64, 64};
  for (const auto what : {relation::above, relation::left_of}) {
    BOOST_TEST(!holds(what, at, other, other, relation_rule::clear));
    BOOST_TEST(holds(what, at, other, other, relation_rule::tolerant));
  }
}

BOOST_AUTO_TEST_CASE(between_means_near_the_middle_of_the_line) {
  const scene_point first{30, 30};
  const scene_point second{98, 98};
  const auto between = [&](scene_point x) {
    return holds(relation::between, x, first, second, relation_rule::clear);
  };
  BOOST_TEST(between({64, 64}));
  BOOST_TEST(between({60, 67}));
  BOOST_TEST(!between({98, 30}));
  BOOST_TEST(!between({20, 20}));
  BOOST_TEST(
    !holds(relation::between, first, first, first, relation_rule::tolerant));
}

BOOST_AUTO_TEST_CASE(each_shape_and_colour_has_one_place_held_out) {
  std::array<size_t, place_count> by_place{};
  for (auto shape = size_t{0}; shape < shape_count; ++shape)
    for (auto colour = size_t{0}; colour < colour_count; ++colour) {
      auto here = size_t{0};
      for (auto place = size_t{0}; place < place_count; ++place)
        if (held_out(static_cast<object_shape>(shape),
                     static_cast<object_colour>(colour),
                     static_cast<grid_place>(place))) {
          ++here;
          ++by_place[place];
        }
      BOOST_TEST(here == 1);
    }
  // Two objects of a held out scene need two looks for each place.
  for (const auto count : by_place)
    BOOST_TEST(count >= 2);
}

BOOST_AUTO_TEST_CASE(faults_are_named) {
  BOOST_TEST(!fault_of(two_objects()).has_value());
  auto x = two_objects();
  x.objects[1].centre = {64, 30};
  BOOST_TEST(fault_of(x).value() == "two objects are too close");
  x = two_objects();
  x.objects[1].colour = object_colour::red;
  BOOST_TEST(fault_of(x).value() == "two objects are of one shape and colour");
  x = two_objects();
  x.objects[0].colour = object_colour::white;
  BOOST_TEST(fault_of(x).value() == "an object stands out too little");
  x = two_objects();
  x.objects[0].centre.x = 44;
  BOOST_TEST(fault_of(x).value() == "an object is at no place");
  x = two_objects();
  x.objects[0].size = object_size::large;
  BOOST_TEST(fault_of(x).value() == "an object's radius is not of its size");
  x.objects[0].radius = 29.5f;
  x.objects[0].size = object_size::small;
  BOOST_TEST(fault_of(x).has_value());
  x = two_objects();
  x.objects[0].size = object_size::large;
  x.objects[0].radius = 29;
  x.objects[0].centre = {28, 30};
  BOOST_TEST(fault_of(x).value() == "an object reaches out of the image");
  x = two_objects();
  x.background.to = background_colour::navy;
  BOOST_TEST(fault_of(x).has_value());
  x = two_objects();
  x.objects.clear();
  BOOST_TEST(fault_of(x).value() == "not one to three objects");
}

BOOST_AUTO_TEST_CASE(colours_lie_well_apart) {
  for (auto i = size_t{0}; i < colour_count; ++i)
    for (auto j = size_t{0}; j < i; ++j)
      BOOST_TEST(distance(to_lab(colour_of(static_cast<object_colour>(i))),
                          to_lab(colour_of(static_cast<object_colour>(j))))
                 > 40);
  for (auto i = size_t{0}; i < colour_count; ++i) {
    const auto x = static_cast<object_colour>(i);
    BOOST_TEST(distance(to_lab(colour_of(x)), to_lab(pattern_colour_of(x)))
               > 30);
  }
  for (auto i = size_t{0}; i < background_colour_count; ++i)
    for (auto j = size_t{0}; j < i; ++j)
      BOOST_TEST(distance(to_lab(colour_of(static_cast<background_colour>(i))),
                          to_lab(colour_of(static_cast<background_colour>(j))))
                 > 30);
}

BOOST_AUTO_TEST_CASE(lab_is_that_of_known_colours) {
  const auto red = to_lab({255, 0, 0});
  BOOST_TEST(std::abs(red.l - 53.24f) < 0.1f);
  BOOST_TEST(std::abs(red.a - 80.09f) < 0.1f);
  BOOST_TEST(std::abs(red.b - 67.20f) < 0.1f);
}

BOOST_AUTO_TEST_SUITE_END()
