// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/family.hpp>
#include <atelier/training/loops/denoiser_batch.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>

using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(denoiser_batches)

BOOST_AUTO_TEST_CASE(a_batch_depends_on_seed_and_step_alone) {
  const denoiser_plan plan;
  const auto x = draw_denoiser_batch(3, 1000, plan);
  const auto y = draw_denoiser_batch(3, 1000, plan);
  BOOST_TEST(x.scenes == y.scenes, boost::test_tools::per_element());
  BOOST_TEST(x.ids == y.ids, boost::test_tools::per_element());
  BOOST_TEST(x.timesteps == y.timesteps, boost::test_tools::per_element());
  BOOST_TEST((draw_denoiser_batch(3, 1001, plan).scenes != x.scenes));
  BOOST_TEST((draw_denoiser_batch(4, 1000, plan).scenes != x.scenes));
  BOOST_TEST(x.scenes.size() == plan.batch);
  BOOST_TEST(x.timesteps.size() == plan.batch);
  BOOST_TEST(x.ids.size() == plan.batch * family_tokens);
}

BOOST_AUTO_TEST_CASE(only_scenes_that_are_surely_there_are_used) {
  denoiser_plan plan;
  plan.first_scenes = 40;
  plan.scenes_a_step = 4;
  plan.most_scenes = 80;
  plan.lag = 3;
  BOOST_TEST(groups_at(plan, 0) == 10u);
  BOOST_TEST(scenes_at(plan, 0) == 40u);
  BOOST_TEST(scenes_at(plan, 3) == 40u);
  BOOST_TEST(scenes_at(plan, 4) == 44u);
  BOOST_TEST(scenes_at(plan, 1000) == 80u);
  for (uint64_t step = 0; step < 40; ++step) {
    // These are the groups of the batches before those drawn ahead.
    const auto there =
      4 * groups_at(plan, step > plan.lag ? step - plan.lag : 0);
    for (const auto x : draw_denoiser_batch(1, step, plan).scenes)
      BOOST_REQUIRE(x < there);
  }
}

BOOST_AUTO_TEST_CASE(timesteps_are_dense_at_high_noise_and_cover_all) {
  denoiser_plan plan;
  plan.single_steps = 0;
  uint64_t high = 0, low = 0, all = 0;
  for (uint64_t step = 0; step < 200; ++step)
    for (const auto t : draw_denoiser_batch(1, step, plan).timesteps) {
      BOOST_REQUIRE(t >= 0 && t < 1000);
      ++all;
      if (t >= 700)
        ++high;
      if (t < 300)
        ++low;
    }
  // A quarter of them are even, and the rest are u^0.35: 1 - 0.7^(1 / 0.35) =
  // 0.639.
  const auto share = static_cast<double>(high) / static_cast<double>(all);
  BOOST_TEST(share == 0.25 * 0.3 + 0.75 * 0.639,
             boost::test_tools::tolerance(0.05));
  BOOST_TEST(static_cast<double>(low) / static_cast<double>(all) > 0.07);
}

BOOST_AUTO_TEST_CASE(the_first_steps_have_one_object_and_dense_timesteps) {
  denoiser_plan plan;
  plan.single_steps = 100;
  uint64_t several = 0, high = 0;
  for (uint64_t step = 0; step < 200; ++step) {
    const auto drawn = draw_denoiser_batch(1, step, plan);
    for (const auto number : drawn.scenes) {
      const auto objects = latent_scene(1, number, plan).objects.size();
      BOOST_REQUIRE(objects == objects_in(1, number, plan));
      BOOST_REQUIRE((objects == 1 || step >= plan.single_steps));
      several += objects > 1 ? 1 : 0;
    }
    if (step < plan.single_steps)
      high += static_cast<uint64_t>(
        std::count_if(drawn.timesteps.begin(), drawn.timesteps.end(),
                      [](int64_t t) { return t >= 700; }));
  }
  BOOST_TEST((several > 1200 && several < 2000));
  BOOST_TEST(static_cast<double>(high) / (100. * plan.batch) == 0.639,
             boost::test_tools::tolerance(0.05));
}

BOOST_AUTO_TEST_CASE(without_single_objects_others_are_taken) {
  denoiser_plan plan;
  plan.single_of_ten = 0;
  BOOST_TEST(draw_denoiser_batch(1, 0, plan).scenes.size() == plan.batch);
}

BOOST_AUTO_TEST_CASE(scenes_are_of_the_training_split) {
  const denoiser_plan plan;
  std::array<int, most_objects + 1> counts{};
  for (uint64_t i = 0; i < 1000; ++i) {
    const auto x = latent_scene(1, i, plan);
    ++counts[x.objects.size()];
    for (const auto& o : x.objects)
      BOOST_REQUIRE(!held_out(o.shape, o.colour, place_at(o.centre)));
  }
  BOOST_TEST(counts[0] == 0);
  BOOST_TEST((counts[1] > 430 && counts[1] < 570));
  BOOST_TEST((counts[2] > 230 && counts[2] < 370));
}

BOOST_AUTO_TEST_SUITE_END()
