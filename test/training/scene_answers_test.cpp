// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/loops/scene_answers.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(answers_of_scenes)

namespace {

scene_object blue_ring(scene_point centre) {
  scene_object out;
  out.shape = object_shape::ring;
  out.colour = object_colour::blue;
  out.size = object_size::large;
  out.texture = object_texture::dotted;
  out.centre = centre;
  out.radius = 26;
  return out;
}

// Returns the index of the first question about a shape.
size_t of_shape(object_shape x) {
  return 9 * 4 + static_cast<size_t>(x) * 3;
}

} // namespace

BOOST_AUTO_TEST_CASE(every_answer_is_a_class_and_every_class_an_answer) {
  const auto questions = scene_questions();
  std::vector<std::set<int64_t>> seen(questions.size()), said(questions.size());
  const auto note = [&](const std::vector<int64_t>& answers, auto& into) {
    BOOST_REQUIRE(answers.size() == questions.size());
    for (size_t k = 0; k < answers.size(); ++k) {
      if (answers[k] == unanswerable)
        continue;
      BOOST_REQUIRE(answers[k] >= 0 && answers[k] < questions[k].classes);
      into[k].insert(answers[k]);
    }
  };
  for (uint64_t i = 0; i < 8000; ++i) {
    core::philox from{1, core::purpose::test, core::request_id{i}};
    const auto what = draw_scene(from);
    note(scene_answers(what), seen);
    note(scene_answers(describe(what, from)), said);
  }
  for (size_t k = 0; k < questions.size(); ++k) {
    const auto classes = static_cast<size_t>(questions[k].classes);
    // An image always has a background.
    const auto always = k >= questions.size() - 3;
    BOOST_TEST(seen[k].size() == classes - (always ? 1 : 0), "question " << k);
    BOOST_TEST(said[k].size() == classes, "question " << k);
  }
}

BOOST_AUTO_TEST_CASE(what_a_caption_says_is_what_the_image_shows) {
  for (uint64_t i = 0; i < 500; ++i) {
    core::philox from{2, core::purpose::test, core::request_id{i}};
    const auto what = draw_scene(from);
    const auto shown = scene_answers(what);
    const auto said = scene_answers(describe(what, from));
    for (size_t k = 0; k < said.size(); ++k)
      if (said[k] > 0)
        BOOST_TEST(said[k] == shown[k], "question " << k);
  }
}

BOOST_AUTO_TEST_CASE(a_place_has_its_object_and_a_shape_its_place) {
  scene x;
  x.objects = {blue_ring({98, 30})};
  const auto answers = scene_answers(x);
  const auto top_right = static_cast<size_t>(grid_place::top_right) * 4;
  BOOST_TEST(answers[top_right] == 5);
  BOOST_TEST(answers[top_right + 1] == 5);
  BOOST_TEST(answers[top_right + 2] == 2);
  BOOST_TEST(answers[top_right + 3] == 3);
  const auto ring = of_shape(object_shape::ring);
  BOOST_TEST(answers[ring] == 5);
  BOOST_TEST(answers[ring + 1] == 3);
  BOOST_TEST(answers[ring + 2] == 1);
  BOOST_TEST(std::ranges::count_if(answers, [](auto a) { return a > 0; })
             == 10);
}

BOOST_AUTO_TEST_CASE(two_objects_of_a_shape_have_no_single_place) {
  scene x;
  x.objects = {blue_ring({30, 30}), blue_ring({98, 98})};
  const auto answers = scene_answers(x);
  const auto ring = of_shape(object_shape::ring);
  for (size_t k = 0; k < 3; ++k)
    BOOST_TEST(answers[ring + k] == unanswerable);
  BOOST_TEST(answers[0] == 5);
  BOOST_TEST(answers[8 * 4] == 5);
}

BOOST_AUTO_TEST_CASE(squares_tell_the_object_that_covers_them) {
  scene x;
  x.objects = {blue_ring({98, 30})};
  const auto answers = patch_answers(x, 8);
  const auto questions = patch_questions().size();
  BOOST_REQUIRE(answers.size() == 8 * 8 * questions);
  const auto at = [&](size_t row, size_t column) {
    return answers.begin()
         + static_cast<ptrdiff_t>((row * 8 + column) * questions);
  };
  const std::vector<int64_t> ring{5, 5, 2, 3}, nothing(questions, 0);
  BOOST_TEST(std::equal(ring.begin(), ring.end(), at(1, 6)));
  // 8 from 30 and 88 from 98 are within 26, and 40 from 30 is not.
  BOOST_TEST(std::equal(ring.begin(), ring.end(), at(0, 5)));
  BOOST_TEST(std::equal(nothing.begin(), nothing.end(), at(4, 6)));
  BOOST_TEST(std::equal(nothing.begin(), nothing.end(), at(0, 0)));
}

BOOST_AUTO_TEST_SUITE_END()
