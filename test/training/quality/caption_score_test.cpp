// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/parse_caption.hpp>
#include <atelier/training/quality/caption_score.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(caption_score_test)

namespace {

seen_object seen(object_shape shape, object_colour colour, grid_place place) {
  seen_object x;
  x.shape = shape;
  x.colour = colour;
  x.place = place;
  x.centre = centre_of(place);
  return x;
}

// Returns a white image with a red circle at the top left and a blue star below
// it.
seen_image example() {
  seen_image x;
  x.background = scene_background{};
  x.objects = {
    seen(object_shape::star, object_colour::blue, grid_place::bottom_left),
    seen(object_shape::circle, object_colour::red, grid_place::top_left)};
  return x;
}

caption_score score(std::string_view text, const seen_image& of = example()) {
  const auto read = parse_caption(text);
  BOOST_TEST(read.remarks.empty());
  return score_image(of, read.says);
}

constexpr score_count all_of(uint32_t n) {
  return {n, n};
}

constexpr score_count none_of(uint32_t n) {
  return {n, 0};
}

} // namespace

BOOST_AUTO_TEST_CASE(a_right_image_is_fully_right) {
  const auto x = score("a small red circle at the top left above a plain blue "
                       "star on a white background");
  BOOST_TEST((x.objects == all_of(2)));
  BOOST_TEST((x.main == all_of(2)));
  BOOST_TEST((x.sizes == all_of(1)));
  BOOST_TEST((x.textures == all_of(1)));
  BOOST_TEST((x.places == all_of(1)));
  BOOST_TEST((x.relations == all_of(1)));
  BOOST_TEST((x.backgrounds == all_of(1)));
  BOOST_TEST((x.images == all_of(1)));
}

BOOST_AUTO_TEST_CASE(what_is_not_said_does_not_count) {
  const auto x = score("a star and a circle");
  BOOST_TEST((x.images == all_of(1)));
  BOOST_TEST((x.colours == none_of(0)));
  BOOST_TEST((x.backgrounds == none_of(0)));
}

BOOST_AUTO_TEST_CASE(each_error_is_counted_where_it_is) {
  auto x = score("a large red circle and a blue star");
  BOOST_TEST((x.objects == score_count{2, 1}));
  BOOST_TEST((x.main == all_of(2)));
  BOOST_TEST((x.sizes == none_of(1)));
  BOOST_TEST((x.images == none_of(1)));
  x = score("a red circle and a green star");
  BOOST_TEST((x.main == score_count{2, 1}));
  BOOST_TEST((x.colours == score_count{2, 1}));
  BOOST_TEST((x.shapes == all_of(2)));
  x = score("a red circle below a blue star");
  BOOST_TEST((x.relations == none_of(1)));
  BOOST_TEST((x.objects == score_count{2, 1}));
  x = score("a red circle and a blue star on a navy background");
  BOOST_TEST((x.objects == all_of(2)));
  BOOST_TEST((x.backgrounds == none_of(1)));
  BOOST_TEST((x.images == none_of(1)));
}

BOOST_AUTO_TEST_CASE(missing_and_further_objects_make_a_image_wrong) {
  auto x = score("a red circle");
  BOOST_TEST((x.objects == all_of(1)));
  BOOST_TEST((x.counts == none_of(1)));
  BOOST_TEST((x.images == none_of(1)));
  x = score("a red circle, a blue star and a small green ring in the center");
  BOOST_TEST((x.objects == score_count{3, 2}));
  BOOST_TEST((x.places == none_of(1)));
  BOOST_TEST((x.sizes == none_of(1)));
  const seen_image empty;
  x = score("a red circle above a star on a white background", empty);
  BOOST_TEST((x.objects == none_of(2)));
  BOOST_TEST((x.shapes == none_of(2)));
  BOOST_TEST((x.backgrounds == none_of(1)));
}

BOOST_AUTO_TEST_CASE(nothing_seen_is_nothing_right) {
  auto shown = example();
  shown.objects[1].shape.reset();
  BOOST_TEST(
    (score("a red circle and a blue star", shown).shapes == score_count{2, 1}));
  shown = example();
  shown.objects[1].colour.reset();
  BOOST_TEST((score("a red circle and a blue star", shown).colours
              == score_count{2, 1}));
}

BOOST_AUTO_TEST_CASE(the_best_assignment_counts) {
  // Both could be the star, but only one assignment makes everything right.
  seen_image shown;
  shown.objects = {
    seen(object_shape::star, object_colour::blue, grid_place::left),
    seen(object_shape::star, object_colour::blue, grid_place::right)};
  const auto x = score("a blue star on the right and a star", shown);
  BOOST_TEST((x.objects == all_of(2)));
  const auto y =
    score("a blue star and a star to the left of the blue star", shown);
  BOOST_TEST((y.objects == all_of(2)));
}

BOOST_AUTO_TEST_CASE(a_gradient_may_leave_its_direction_open) {
  auto shown = example();
  shown.background =
    scene_background{background_colour::navy, background_colour::pink,
                     background_grade::horizontal};
  const auto right = [&](std::string_view text) {
    return score(text, shown).backgrounds.right;
  };
  BOOST_TEST(right("a star on a navy to pink gradient background") == 1u);
  BOOST_TEST(right("a star on a horizontal gradient from navy to pink") == 1u);
  BOOST_TEST(right("a star on a vertical gradient from navy to pink") == 0u);
  BOOST_TEST(right("a star on a pink to navy gradient background") == 0u);
  BOOST_TEST(right("a star on a navy background") == 0u);
}

BOOST_AUTO_TEST_CASE(long_texts_are_judged_quickly) {
  description many;
  many.objects.resize(200);
  seen_image shown;
  shown.objects.resize(
    50, seen(object_shape::circle, object_colour::red, grid_place::left));
  const auto x = score_image(shown, many);
  BOOST_TEST(x.objects.said == 200u);
  BOOST_TEST(x.objects.right == most_objects);
}

BOOST_AUTO_TEST_CASE(scores_add_up) {
  auto sum = score("a red circle");
  sum += score("a red circle and a blue star");
  BOOST_TEST((sum.objects == all_of(3)));
  BOOST_TEST((sum.images == score_count{2, 1}));
  BOOST_TEST(sum.images.share() == 0.5);
  BOOST_TEST(caption_score{}.sizes.share() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
