// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/gpu/captions/caption_notes.hpp>
#include <atelier/gpu/captions/scene_terms.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/draw_scene.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <array>
#include <string>

using namespace atelier;
using namespace atelier::gpu;
using core::note_code;

namespace {

// A prompt outside the grammar, the word that the note must name, and the words
// that it must offer.
struct foreign {
  std::string_view prompt;
  std::string_view word;
  std::string_view instead;
};

constexpr std::array foreign_prompts = std::to_array<foreign>({
  {"a cyan circle", "'cyan'", "'blue' on an object, 'teal' behind it"},
  {"a red rabbit", "'rabbit'", "circle, square, triangle"},
  {"a red circel", "'circel'", "'circle'"},
  {"a golden star", "'golden'", "'yellow'"},
  {"a blue rectangle", "'rectangle'", "'square'"},
  {"a red oval on white", "'oval'", "'circle'"},
  {"two red circles", "'two'", "name each object"},
  {"a red star and green circles", "'circles'", "'a circle'"},
  {"a giant blue ring", "'giant'", "'large'"},
  {"a stripy heart", "'stripy'", "'striped'"},
  {"a red circle beneath a star", "'beneath'", "'below'"},
  {"a purple cross on a yellow background", "'yellow'", "backgrounds are"},
  {"a circle on red", "'red'", "backgrounds are"},
  {"a star on an orange to navy gradient", "'orange'", "backgrounds are"},
  {"a teal hexagon", "'teal'", "objects are"},
  {"a brown square", "'brown'", "objects are"},
  {"a pink heart and a grey moon", "'pink'", "objects are"},
  {"a photo of a red circle", "'photo'", "'picture'"},
  {"a pentagon", "'pentagon'", "'hexagon'"},
  {"a white star on a white background", "white star", "does not show"},
});

constexpr std::array own_prompts = std::to_array<std::string_view>({
  "a red circle",
  "a red circle on a white background",
  "a large striped blue star at the top left",
  "a small green ring above a yellow diamond",
  "a white heart on a navy background",
  "a black cross on a teal to pink gradient background",
  "an orange hexagon between a red circle and a blue square",
  "a purple crescent in the bottom right corner on gray",
  "a dotted yellow triangle",
  "there is a violet moon with spots",
  "a picture of a tiny red disk",
  "a red circle and a blue circle",
  "a red star to the left of a green hoop on black",
  "Red circle, blue star.",
  "a green plus in the middle of the picture",
  "a solid blue rhombus on a plain brown background",
  "a huge orange heart on the right",
  "a yellow square below a purple triangle and a red ring",
  "a blue diamond on a horizontal gradient from white to navy",
  "a little black star on a pink background",
});

} // namespace

BOOST_AUTO_TEST_SUITE(caption_notes_test)

BOOST_AUTO_TEST_CASE(a_prompt_outside_the_grammar_has_a_note_on_its_word) {
  for (const auto& x : foreign_prompts) {
    bool found = false;
    std::string all;
    for (const auto& one : caption_notes(x.prompt)) {
      all += one.text + "\n";
      found = found
           || (one.text.find(x.word) != std::string::npos
               && one.text.find(x.instead) != std::string::npos);
    }
    BOOST_TEST(found, x.prompt << ": " << all);
  }
}

BOOST_AUTO_TEST_CASE(a_prompt_inside_the_grammar_has_none) {
  for (const auto x : own_prompts) {
    const auto notes = caption_notes(x);
    BOOST_TEST(notes.empty(),
               x << ": " << (notes.empty() ? "" : notes.front().text));
  }
}

BOOST_AUTO_TEST_CASE(no_caption_of_training_has_a_note) {
  const auto count = test::scaled(200'000);
  for (size_t i = 0; i < count; ++i) {
    core::philox from{test::seed(), core::purpose::test, core::request_id{i}};
    const auto scene = draw_scene(from);
    const auto caption = draw_caption(scene, from);
    const auto notes = caption_notes(caption.text);
    BOOST_TEST(notes.empty(), caption.text
                                << ": "
                                << (notes.empty() ? "" : notes.front().text));
  }
}

BOOST_AUTO_TEST_CASE(colours_and_words_have_codes_of_their_own) {
  const auto code = [](std::string_view prompt) {
    return caption_notes(prompt).at(0).code;
  };
  BOOST_TEST((code("a rabbit") == note_code::unknown_word));
  BOOST_TEST((code("a teal circle") == note_code::background_colour_only));
  BOOST_TEST((code("a circle on red") == note_code::object_colour_only));
  BOOST_TEST((code("red") == note_code::not_drawable));
}

BOOST_AUTO_TEST_CASE(places_side_by_side_have_a_note_that_names_both) {
  const auto notes = caption_notes(
    "a small orange cross at the top and a yellow square in the top right "
    "corner on a gray background");
  BOOST_TEST_REQUIRE(notes.size() == 1u);
  BOOST_TEST((notes[0].code == note_code::not_drawable));
  BOOST_TEST(notes[0].text.starts_with("'top' is beside 'top right': "));
  BOOST_TEST(notes[0].text.ends_with("leaves one out, or draws it elsewhere"));
  const auto same =
    caption_notes("a red circle on the left and a blue star on the left");
  BOOST_TEST_REQUIRE(same.size() == 1u);
  BOOST_TEST(same[0].text.find("one place, 'left'") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(only_places_that_share_a_side_have_a_note) {
  size_t noted = 0;
  for (size_t a = 0; a < place_count; ++a)
    for (size_t b = 0; b < place_count; ++b) {
      const auto notes = caption_notes(
        fmt::format("a red circle at the {} and a blue star at the {}",
                    to_string(static_cast<grid_place>(a)),
                    to_string(static_cast<grid_place>(b))));
      BOOST_TEST(notes.size() <= 1u);
      noted += notes.size();
    }
  // Twelve pairs of cells in either order, and nine cells with themselves.
  BOOST_TEST(noted == 33u);
}

BOOST_AUTO_TEST_CASE(notes_are_few_and_short_whatever_the_prompt) {
  std::string prompt;
  for (int i = 0; i < 20'000; ++i)
    prompt += "w" + std::to_string(i) + " a red background, above ";
  prompt += std::string(100'000, 'x');
  const auto notes = caption_notes(prompt);
  BOOST_TEST(notes.size() <= core::most_notes);
  for (const auto& x : notes)
    BOOST_TEST(x.text.size() < core::most_note_bytes - 20);
  BOOST_TEST(caption_notes("").empty());
  BOOST_TEST(caption_notes("...").empty());
}

BOOST_AUTO_TEST_SUITE_END()
