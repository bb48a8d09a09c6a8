// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/captions/caption_words.hpp>
#include <atelier/gpu/captions/parse_caption.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/draw_scene.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(caption_test)

namespace {

core::philox generator(uint64_t number) {
  return core::philox{test::seed(), core::purpose::test,
                      core::request_id{number}};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in{text};
  std::vector<std::string> out;
  for (std::string word; in >> word;)
    out.push_back(word.substr(0, word.find(',')));
  return out;
}

description example() {
  description x;
  x.objects.resize(2);
  x.objects[0].shape = object_shape::circle;
  x.objects[0].colour = object_colour::red;
  x.objects[0].size = object_size::large;
  x.objects[1].shape = object_shape::star;
  x.objects[1].colour = object_colour::blue;
  x.objects[1].size = object_size::small;
  x.relations = {{relation::above, 0, 1, 1}};
  x.background = described_background{};
  return x;
}

} // namespace

BOOST_AUTO_TEST_CASE(plain_words_read_like_english) {
  BOOST_TEST(word_plainly(example())
             == "a large red circle above a small blue star on a white "
                "background");
  auto x = example();
  x.relations.clear();
  x.objects[0].place = grid_place::top_left;
  x.objects[1].texture = object_texture::striped;
  x.background = {background_colour::navy, background_colour::pink,
                  std::nullopt};
  BOOST_TEST(word_plainly(x)
             == "a large red circle at the top left and a small striped blue "
                "star on a navy to pink gradient background");
  BOOST_TEST(word_plainly({}).empty());
}

BOOST_AUTO_TEST_CASE(every_caption_says_what_it_is_said_to_say) {
  const auto count = test::scaled(200'000);
  for (auto i = size_t{0}; i < count; ++i) {
    auto from = generator(i);
    const auto scene = draw_scene(from);
    const auto x = draw_caption(scene, from);
    const auto read = parse_caption(x.text);
    BOOST_TEST((read.says == x.says), i << ": " << x.text << " is read as "
                                        << word_plainly(read.says));
    BOOST_TEST(read.unknown_words.empty(), x.text);
    BOOST_TEST(read.remarks.empty(), i << ": " << x.text);
    const auto plain = parse_caption(word_plainly(x.says));
    BOOST_TEST((plain.says == x.says), word_plainly(x.says));
  }
}

BOOST_AUTO_TEST_CASE(what_is_said_is_true_of_the_scene) {
  const auto count = test::scaled(50'000);
  for (auto i = size_t{0}; i < count; ++i) {
    auto from = generator(i);
    const auto scene = draw_scene(from);
    const auto x = describe(scene, from);
    BOOST_TEST(x.objects.size() == scene.objects.size());
    std::vector<const scene_object*> meant;
    for (const auto& said : x.objects) {
      const auto it = std::ranges::find_if(scene.objects, [&](const auto& o) {
        return o.shape == said.shape
            && (!said.colour || *said.colour == o.colour)
            && (!said.size || *said.size == o.size)
            && (!said.texture || *said.texture == o.texture)
            && (!said.place || *said.place == place_at(o.centre));
      });
      BOOST_REQUIRE((it != scene.objects.end()));
      meant.push_back(&*it);
    }
    for (const auto& r : x.relations)
      BOOST_TEST(holds(r.kind, meant[r.subject]->centre, meant[r.first]->centre,
                       meant[r.second]->centre, relation_rule::clear));
    if (x.background) {
      BOOST_TEST((x.background->from == scene.background.from));
      BOOST_TEST((x.background->to == scene.background.to));
    }
  }
}

BOOST_AUTO_TEST_CASE(all_words_are_used_and_no_others) {
  std::set<std::string> seen;
  // The rarest wording occurs once in about 2,000 captions.
  for (auto i = uint64_t{0}; i < 20'000; ++i) {
    core::philox from{3, core::purpose::test, core::request_id{i}};
    const auto scene = draw_scene(from);
    const auto text = draw_caption(scene, from).text;
    for (auto& x : words_of(text))
      seen.insert(std::move(x));
  }
  const auto& words = caption_words();
  const std::set<std::string> known(words.begin(), words.end());
  BOOST_TEST(known.size() == words.size());
  for (const auto& x : seen)
    BOOST_TEST(known.count(x) == 1u, x);
  for (const auto& x : known)
    BOOST_TEST(seen.count(x) == 1u, x);
}

BOOST_AUTO_TEST_CASE(another_value_changes_its_words_alone) {
  const auto count = test::scaled(20'000);
  for (auto i = size_t{0}; i < count; ++i) {
    auto from = generator(i);
    const auto x = describe(draw_scene(from), from);
    auto other = x;
    other.objects[0].shape = x.objects[0].shape == object_shape::star
                             ? object_shape::heart
                             : object_shape::star;
    auto one = from;
    auto two = from;
    const auto words = words_of(word(x, one));
    const auto changed = words_of(word(other, two));
    BOOST_REQUIRE(words.size() == changed.size());
    auto differ = 0;
    for (auto k = size_t{0}; k < words.size(); ++k)
      differ += words[k] == changed[k] ? 0 : 1;
    // The texts differ where the object is named, and where another object
    // refers to it.
    BOOST_TEST(differ >= 1);
    BOOST_TEST(differ <= 2);
    BOOST_TEST(one.next_u32() == two.next_u32());
  }
}

BOOST_AUTO_TEST_CASE(difficulty_counts_objects_and_what_is_said) {
  BOOST_TEST((difficulty_of(example()) == caption_difficulty{2, 8}));
  auto x = example();
  x.background->to = background_colour::black;
  x.background->grade = background_grade::vertical;
  BOOST_TEST((difficulty_of(x) == caption_difficulty{2, 9}));
  BOOST_TEST((difficulty_of({}) == caption_difficulty{0, 0}));
  BOOST_TEST((difficulty_of(example()) < caption_difficulty{3, 6}));
}

BOOST_AUTO_TEST_CASE(what_nobody_calls_patterned_is_nearly_always_plain) {
  auto silent = 0;
  auto patterned = 0;
  for (auto i = uint64_t{0}; i < 3'000; ++i) {
    core::philox from{4, core::purpose::test, core::request_id{i}};
    const auto scene = draw_scene(from, {1, scene_split::training});
    if (!describe(scene, from).objects[0].texture) {
      ++silent;
      patterned += scene.objects[0].texture == object_texture::plain ? 0 : 1;
    }
  }
  BOOST_TEST(patterned < 0.1 * silent);
  BOOST_TEST(patterned > 0);
}

BOOST_AUTO_TEST_CASE(everything_can_be_said) {
  core::philox from{5, core::purpose::test};
  const auto scene = draw_scene(from, {3, scene_split::training});
  const auto x = describe_all(scene);
  BOOST_REQUIRE(x.objects.size() == 3u);
  for (auto i = size_t{0}; i < 3; ++i) {
    BOOST_TEST((x.objects[i].shape == scene.objects[i].shape));
    BOOST_TEST((x.objects[i].place == place_at(scene.objects[i].centre)));
  }
  BOOST_TEST((parse_caption(word_plainly(x)).says == x));
}

BOOST_AUTO_TEST_SUITE_END()
