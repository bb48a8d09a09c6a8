// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/denoiser_batch.hpp>
#include <atelier/training/scene_digest.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(scene_digest_test)

BOOST_AUTO_TEST_CASE(another_image_or_caption_has_another_digest) {
  scene drawn;
  drawn.objects.push_back({});
  const std::vector scenes{drawn};
  const std::vector<std::string> captions{"a red circle"};
  const auto digest = scene_digest(scenes, captions);
  BOOST_TEST(digest.size() == 16u);
  BOOST_TEST(scene_digest(scenes, captions) == digest);
  auto larger = scenes;
  larger[0].objects[0].radius += 1;
  BOOST_TEST(scene_digest(larger, captions) != digest);
  auto elsewhere = scenes;
  elsewhere[0].objects[0].centre.x += 2;
  BOOST_TEST(scene_digest(elsewhere, captions) != digest);
  auto darker = scenes;
  darker[0].background = {background_colour::grey, background_colour::grey,
                          background_grade::plain};
  BOOST_TEST(scene_digest(darker, captions) != digest);
  BOOST_TEST(scene_digest(scenes, std::vector<std::string>{"a blue circle"})
             != digest);
  BOOST_TEST(scene_digest({}, std::vector<std::string>{"a", "b"})
             != scene_digest({}, std::vector<std::string>{"ab"}));
}

BOOST_AUTO_TEST_CASE(latents_belong_to_seed_autoencoder_and_scenes) {
  const denoiser_plan plan;
  const auto maker = latents_maker(1, plan, "weights");
  BOOST_TEST(latents_maker(1, plan, "weights") == maker);
  BOOST_TEST(latents_maker(2, plan, "weights") != maker);
  BOOST_TEST(latents_maker(1, plan, "others") != maker);
  // The same numbers stand for scenes of other numbers of objects.
  auto others = plan;
  others.single_of_ten = 2;
  others.double_of_ten = 4;
  BOOST_TEST(latents_maker(1, others, "weights") != maker);
  // What follows a scene's drawing leaves its latents as they are.
  auto later = plan;
  later.batch = 8;
  later.dense = 0.25;
  BOOST_TEST(latents_maker(1, later, "weights") == maker);
}

BOOST_AUTO_TEST_SUITE_END()
