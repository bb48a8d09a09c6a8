// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/prompt_notes.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::gpu;
using core::note;
using core::note_code;

namespace {

using notes = std::vector<note>;

const known_words colours{"a red circle"};

core::recipe run_at(uint32_t width, uint32_t height, float guidance = 1) {
  core::recipe how;
  how.px = {width, height};
  how.guidance = guidance;
  return how;
}

} // namespace

BOOST_AUTO_TEST_SUITE(prompt_notes_test)

BOOST_AUTO_TEST_CASE(a_note_names_the_text_that_it_is_of) {
  BOOST_TEST((notes_on_text("a red cirle", prompt_side::positive, colours,
                            caption_kind::free)
              == notes{{note_code::unknown_word,
                        "prompt: the model does not know 'cirle': use "
                        "'circle'"}}));
  BOOST_TEST((notes_on_text("blurry, red hands", prompt_side::negative, colours,
                            caption_kind::scenes)
              == notes{{note_code::unknown_word,
                        "negative prompt: the model does not know 2 of its "
                        "words, which have no effect"}}));
  BOOST_TEST((note_on_cut(prompt_side::positive, 3)
              == note{note_code::prompt_cut,
                      "prompt: its last 3 tokens did not fit the model and "
                      "were left out"}));
}

BOOST_AUTO_TEST_CASE(a_model_of_scenes_is_given_what_it_knows) {
  const auto given = [](std::string_view text, prompt_side side,
                        caption_kind captions = caption_kind::scenes) {
    return text_to_encode(text, side, colours, captions);
  };
  BOOST_TEST(given("best quality, a red cirle", prompt_side::positive)
             == "a red cirle");
  BOOST_TEST(given("best, quality", prompt_side::positive) == "best, quality");
  BOOST_TEST(given("blurry, red hands", prompt_side::negative) == "");
  BOOST_TEST(given("blurry, a red circle", prompt_side::negative)
             == "a red circle");
  BOOST_TEST(given("best, red", prompt_side::positive, caption_kind::free)
             == "best, red");
}

BOOST_AUTO_TEST_CASE(weights_that_a_model_does_not_use_are_noted) {
  const auto read = core::read_prompt_syntax("(a:1.3) [b|c] [d]");
  const auto told = notes_on_weights(read, prompt_side::negative);
  BOOST_TEST_REQUIRE(told.size() == 2u);
  BOOST_TEST((told[0]
              == note{note_code::prompt_syntax,
                      "negative prompt: '(a:1.3)' is read as 'a', because a "
                      "weight of words is not supported"}));
}

BOOST_AUTO_TEST_CASE(marks_of_the_web_ui_are_no_words) {
  BOOST_TEST(notes_on_text("a (red:1.3) [circle|a:0.5]", prompt_side::positive,
                           colours, caption_kind::free)
               .empty());
}

BOOST_AUTO_TEST_CASE(a_model_without_a_list_has_nothing_to_say) {
  BOOST_TEST(notes_on_text("x y", prompt_side::positive, {}, caption_kind::free)
               .empty());
}

BOOST_AUTO_TEST_CASE(a_size_far_from_the_models_is_told) {
  const core::extent native{512, 512};
  const auto far = [&](uint32_t width, uint32_t height) {
    const auto all = notes_on_run(run_at(width, height), native, {});
    return !all.empty() && all.front().code == note_code::size_not_native;
  };
  BOOST_TEST(!far(512, 512));
  BOOST_TEST(!far(512, 768));
  BOOST_TEST(!far(384, 512));
  BOOST_TEST(far(256, 256));
  BOOST_TEST(far(1024, 1024));
  model_traits own;
  own.native_only = true;
  BOOST_TEST((notes_on_run(run_at(512, 520), native, own)
              == notes{{note_code::size_not_native,
                        "drawn at 512x520; the model was made for 512x512"}}));
}

BOOST_AUTO_TEST_CASE(a_scaled_image_is_told_with_both_sizes) {
  model_traits own;
  own.native_only = true;
  auto how = run_at(128, 128);
  how.scaled_to = {512, 256};
  BOOST_TEST(
    (notes_on_run(how, {128, 128}, own)
     == notes{{note_code::image_scaled,
               "drawn at 128x128, the model's own size, and scaled to "
               "512x256, with 50 % of its height cut off; native_only=off "
               "draws at the requested size"}}));
  how.scaled_to = {400, 512};
  BOOST_TEST(notes_on_run(how, {128, 128}, own)
               .front()
               .text.find("400x512, with 22 % of its width cut off;")
             != std::string::npos);
  how.from_image = true;
  BOOST_TEST(notes_on_run(how, {128, 128}, own)
               .front()
               .text.find("with 22 % of its width cut off, which had been "
                          "added around the image that it began with;")
             != std::string::npos);
  how.from_image = false;
  how.scaled_to = {512, 512};
  BOOST_TEST(notes_on_run(how, {128, 128}, own).front().text.find("cut off")
             == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_guidance_beyond_the_models_is_told) {
  model_traits traits;
  traits.most_guidance = 3;
  const core::extent native{128, 128};
  BOOST_TEST(notes_on_run(run_at(128, 128, 3), native, traits).empty());
  BOOST_TEST((notes_on_run(run_at(128, 128, 7.5f), native, traits)
              == notes{{note_code::guidance,
                        "guidance 7.5 is more than the 3 up to which the model "
                        "draws well"}}));
  BOOST_TEST(notes_on_run(run_at(128, 128, 30), native, {}).empty());
}

BOOST_AUTO_TEST_CASE(a_stand_in_for_a_sampler_is_told) {
  auto how = run_at(512, 512);
  how.sampler = core::sampler::ddim;
  scheduler_config schedule;
  schedule.sampler = core::sampler::ddim;
  BOOST_TEST(!note_on_sampler(how, schedule));
  schedule.stands_in_for = "PNDMScheduler";
  BOOST_TEST((note_on_sampler(how, schedule)
              == note{note_code::sampler_replaced,
                      "drawn with ddim: the model's own PNDMScheduler does not "
                      "exist here"}));
  how.sampler = core::sampler::euler;
  BOOST_TEST(!note_on_sampler(how, schedule));
}

BOOST_AUTO_TEST_SUITE_END()
