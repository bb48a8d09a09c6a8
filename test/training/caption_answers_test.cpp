// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/loops/caption_answers.hpp>

#include <boost/test/unit_test.hpp>

#include <set>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(answers_of_captions)

BOOST_AUTO_TEST_CASE(every_answer_is_a_class_and_every_class_an_answer) {
  const auto questions = caption_questions();
  std::vector<std::set<int64_t>> seen(questions.size());
  for (uint64_t i = 0; i < 5000; ++i) {
    core::philox from{1, core::purpose::test, core::request_id{i}};
    const auto what = draw_scene(from);
    const auto answers = caption_answers(describe(what, from));
    BOOST_REQUIRE(answers.size() == questions.size());
    for (size_t k = 0; k < answers.size(); ++k) {
      BOOST_REQUIRE(answers[k] >= 0 && answers[k] < questions[k].classes);
      seen[k].insert(answers[k]);
    }
  }
  // The first object always exists, and its shape is always named.
  BOOST_TEST(!seen[0].contains(0));
  for (size_t k = 1; k < 15; ++k)
    BOOST_TEST(seen[k].size() == static_cast<size_t>(questions[k].classes),
               "question " << k << " of " << questions[k].about);
}

BOOST_AUTO_TEST_CASE(a_caption_of_one_circle_answers_as_it_says) {
  description x;
  x.objects.push_back(
    {object_shape::ring, object_colour::blue, {}, {}, grid_place::top});
  const auto answers = caption_answers(x);
  BOOST_TEST(answers[0] == 5);
  BOOST_TEST(answers[1] == 5);
  BOOST_TEST(answers[2] == 0);
  BOOST_TEST(answers[4] == 2);
  for (size_t k = 5; k < answers.size(); ++k)
    BOOST_TEST(answers[k] == 0);
}

BOOST_AUTO_TEST_SUITE_END()
