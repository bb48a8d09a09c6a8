// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/gpu/captions/caption_words.hpp>
#include <atelier/gpu/captions/parse_caption.hpp>
#include <atelier/training/caption.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(parse_caption_test)

namespace {

// Returns the plainest words for the parsed meaning of a text.
std::string meaning(std::string_view text) {
  return word_plainly(parse_caption(text).says);
}

std::vector<std::string> remarks(std::string_view text) {
  return parse_caption(text).remarks;
}

} // namespace

BOOST_AUTO_TEST_CASE(plain_english_is_understood) {
  const auto read = parse_caption(
    "a large red circle above a small blue star on a white background");
  BOOST_TEST(read.unknown_words.empty());
  BOOST_TEST(read.remarks.empty());
  BOOST_REQUIRE(read.says.objects.size() == 2u);
  const auto& circle = read.says.objects[0];
  BOOST_TEST(
    (circle
     == described_object{
       object_shape::circle, object_colour::red, object_size::large, {}, {}}));
  const auto& star = read.says.objects[1];
  BOOST_TEST(
    (star
     == described_object{
       object_shape::star, object_colour::blue, object_size::small, {}, {}}));
  BOOST_REQUIRE(read.says.relations.size() == 1u);
  BOOST_TEST(
    (read.says.relations[0] == described_relation{relation::above, 0, 1, 1}));
  BOOST_TEST((read.says.background == described_background{}));
}

BOOST_AUTO_TEST_CASE(many_wordings_have_one_meaning) {
  const auto same = [](std::string_view wording, std::string_view plain) {
    BOOST_TEST(meaning(wording) == plain,
               wording << " -> " << meaning(wording));
    BOOST_TEST(remarks(wording).empty(), wording);
  };
  same("A BIG red disk.", "a large red circle");
  same("Red circle, blue star", "a red circle and a blue star");
  same("a red circle, at the top left, and a blue star",
       "a red circle at the top left and a blue star");
  same("in the upper left corner a red circle and on the right a blue star",
       "a red circle at the top left and a blue star on the right");
  same("a star in the middle of the picture", "a star in the center");
  same("a green ring at the right of the picture", "a green ring on the right");
  same("a green ring on the right of a star",
       "a green ring to the right of a star");
  same("a striped yellow plus", "a striped yellow cross");
  same("a yellow cross with stripes on grey",
       "a striped yellow cross on a gray background");
  same("on white, a violet moon with spots",
       "a dotted purple crescent on a white background");
  same("white background: a black rhombus",
       "a black diamond on a white background");
  same("a red star against a background fading from navy to teal",
       "a red star on a navy to teal gradient background");
  same("a red star on a horizontal gradient from navy to teal",
       "a red star on a horizontal navy to teal gradient background");
  same("a picture of a red star on a plain white background",
       "a red star on a white background");
  same("a red circle is above a blue star and to the left of a green ring",
       "a red circle above a blue star, a green ring and the red circle to the "
       "left of the green ring");
  same("a heart between a red circle and a blue star",
       "a heart between a red circle and a blue star");
  same("a red circle and a blue star, the red circle below the star",
       "a red circle below a blue star");
  same("a top-left red circle", "a red circle at the top left");
}

BOOST_AUTO_TEST_CASE(unknown_words_are_told_by_name) {
  const auto read =
    parse_caption("a fluffy Red circle, a tiger and another fluffy Löwe");
  const std::vector<std::string> expected{"fluffy", "tiger", "another",
                                          "L\xC3\xB6we"};
  BOOST_TEST(read.unknown_words == expected, boost::test_tools::per_element());
  BOOST_TEST(read.says.objects.size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_no_scene_has_is_remarked) {
  const auto remarked = [](std::string_view text, std::string_view part) {
    auto found = false;
    for (const auto& x : remarks(text))
      found = found || x.find(part) != std::string::npos;
    BOOST_TEST(found, text << " without a remark on " << part);
  };
  remarked("a circle, a star, a ring and a heart", "at most 3");
  remarked("a white star on a white background", "does not show");
  remarked("blue", "no shape");
  remarked("a large blue", "has no shape");
  remarked("a star above", "nothing follows 'above'");
  remarked("above a star", "'above'");
  remarked("a star above the star", "with itself");
  remarked("", "no shape");
}

BOOST_AUTO_TEST_CASE(colours_in_the_wrong_place_are_told) {
  using expected = std::vector<misplaced_colour>;
  BOOST_TEST((parse_caption("a star on a red background").misplaced
              == expected{{"red", false}}));
  BOOST_TEST((parse_caption("a Pink star and a pink ring").misplaced
              == expected{{"Pink", true}, {"pink", true}}));
  BOOST_TEST((parse_caption("a star on a violet to navy gradient").misplaced
              == expected{{"violet", false}}));
  BOOST_TEST(parse_caption("a white star on black").misplaced.empty());
}

BOOST_AUTO_TEST_CASE(any_text_is_survived) {
  const auto& words = caption_words();
  const auto count = test::scaled(100'000);
  for (auto i = size_t{0}; i < count; ++i) {
    core::philox from{test::seed(), core::purpose::test, core::request_id{i}};
    std::string text;
    for (auto left = from.below(30); left > 0; --left) {
      const auto kind = from.below(10);
      if (kind == 0)
        text += static_cast<char>(from.below(256));
      else if (kind == 1)
        text += ',';
      else
        text += words[from.below(words.size())];
      text += from.below(8) == 0 ? "" : " ";
    }
    const auto read = parse_caption(text);
    for (const auto& r : read.says.relations) {
      BOOST_TEST(r.subject < read.says.objects.size());
      BOOST_TEST(r.first < read.says.objects.size());
      BOOST_TEST(r.second < read.says.objects.size());
    }
    // A parsed meaning can be worded and parsed again.
    static_cast<void>(word_plainly(read.says));
  }
  std::string many;
  for (auto i = 0; i < 1000; ++i)
    many += "a red star ";
  BOOST_TEST(parse_caption(many).says.objects.size() == 255u);
  static_cast<void>(meaning(many));
}

BOOST_AUTO_TEST_SUITE_END()
