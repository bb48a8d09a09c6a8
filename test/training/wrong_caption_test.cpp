// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/loops/level_ladder.hpp>
#include <atelier/training/loops/scorer_batch.hpp>
#include <atelier/training/wrong_caption.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <map>
#include <set>
#include <sstream>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(wrong_captions)

namespace {

core::philox stream(uint64_t i) {
  return core::philox{1, core::purpose::test, core::request_id{i}};
}

size_t words_apart(const std::string& a, const std::string& b) {
  std::istringstream x{a}, y{b};
  std::string p, q;
  size_t out = 0;
  while (x >> p && y >> q)
    out += p != q ? size_t{1} : size_t{0};
  return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(what_is_drawn_of_a_scene_is_true_of_it) {
  for (uint64_t i = 0; i < 2000; ++i) {
    auto from = stream(i);
    const auto what = draw_scene(from);
    const auto says = describe(what, from);
    BOOST_REQUIRE_MESSAGE(is_true(says, what), word_plainly(says));
    BOOST_REQUIRE(is_true(describe_all(what), what));
  }
}

BOOST_AUTO_TEST_CASE(wrong_captions_differ_in_a_word_and_are_not_true) {
  std::map<std::string_view, size_t> about;
  size_t found = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    auto from = stream(i);
    const auto what = draw_scene(from);
    const auto says = describe(what, from);
    const auto words = from;
    const auto right = word(says, from);
    const auto wrong = draw_wrong_captions(says, what, words, from, 9);
    std::set<std::string> texts;
    for (const auto& x : wrong) {
      BOOST_REQUIRE(words_apart(x.text, right) == 1);
      BOOST_REQUIRE_MESSAGE(!is_true(x.says, what), x.text);
      texts.insert(x.text);
      ++about[x.about];
    }
    BOOST_REQUIRE(texts.size() == wrong.size());
    found += wrong.size();
  }
  BOOST_TEST(found > 9 * 495u);
  for (const auto* x : {"colour", "shape", "size", "texture", "place",
                        "relation", "background"})
    BOOST_TEST(about[x] > 0u, x);
}

BOOST_AUTO_TEST_CASE(as_many_values_change_as_are_asked_for) {
  auto from = stream(3);
  const auto says = describe_all(draw_scene(from, {2, scene_split::training}));
  BOOST_CHECK(change_description(says, 0, from) == says);
  for (size_t i = 1; i < 12; ++i)
    BOOST_CHECK(change_description(says, i, from) != says);
}

BOOST_AUTO_TEST_CASE(batches_of_the_scorer_depend_on_their_number_alone) {
  const scorer_batch_shape shape{5, 4};
  const auto one = draw_scorer_batch(1, 7, shape);
  const auto again = draw_scorer_batch(1, 7, shape);
  BOOST_TEST(one.ids == again.ids);
  BOOST_CHECK(one.scenes == again.scenes);
  BOOST_TEST((draw_scorer_batch(1, 8, shape).ids != one.ids));
  BOOST_TEST(one.ids.size() == static_cast<size_t>(5 * 4 * one.tokens));
  BOOST_TEST(one.also_true.size() == 5u * 5 * 4);
  // A scene's own first text is the one to be found.
  for (size_t i = 0; i < 5; ++i)
    BOOST_TEST(one.also_true[(i * 5 + i) * 4] == 0);
}

BOOST_AUTO_TEST_CASE(levels_fall_in_cost) {
  for (size_t i = 1; i < level_ladder.size(); ++i)
    BOOST_TEST(level_ladder[i].cost() < level_ladder[i - 1].cost());
  BOOST_TEST(name_of(level_ladder.front()) == "base@50");
}

BOOST_AUTO_TEST_SUITE_END()
