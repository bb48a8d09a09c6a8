// SPDX-License-Identifier: Apache-2.0
#include "configs.hpp"
#include <atelier/gpu/samplers/schedule.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;
using core::sampler;
using test::planned;
using test::refusal;
using test::run_of;
using test::stable_diffusion;

namespace {

std::vector<float> timesteps(const sampler_plan& plan) {
  std::vector<float> out;
  for (const auto& x : plan.steps)
    out.push_back(x.timestep);
  return out;
}

void check_near(double x, double expected) {
  BOOST_TEST(x == expected, boost::test_tools::tolerance(1e-4));
}

scheduler_config flow(double shift = 1) {
  scheduler_config out;
  out.predicts = prediction::flow;
  out.shift = shift;
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(schedule_test)

// The numbers in these cases are those of diffusers 0.42.

BOOST_AUTO_TEST_CASE(ddim_steps_down_by_the_same_stride) {
  auto config = stable_diffusion();
  config.steps_offset = 1;
  config.set_alpha_to_one = false;
  const auto sut = planned(config, run_of(sampler::ddim, 50));
  BOOST_TEST(sut.steps.size() == 50u);
  BOOST_TEST(sut.steps[0].timestep == 981);
  BOOST_TEST(sut.steps[1].timestep == 961);
  BOOST_TEST(sut.steps[49].timestep == 1);
  check_near(sut.steps[0].x0_from_x, 1 / std::sqrt(0.0057754959));
  check_near(sut.steps[49].from_x0, std::sqrt(0.99914998));
  BOOST_TEST(sut.start_clean == 0);
  BOOST_TEST(sut.start_noise == 1);
  BOOST_TEST(!sut.draws(0));
  BOOST_TEST(!sut.needs_last);
}

BOOST_AUTO_TEST_CASE(euler_starts_at_the_largest_sigma) {
  const auto sut = planned(stable_diffusion(), run_of(sampler::euler, 4));
  BOOST_TEST((timesteps(sut) == std::vector<float>{999, 666, 333, 0}));
  check_near(sut.start_noise, 14.6146);
  check_near(sut.steps[0].from_out, 2.9183 - 14.6146);
  check_near(sut.steps[1].input_scale, 1 / std::sqrt(1 + 2.9183 * 2.9183));
  check_near(sut.steps[3].from_out, -0.029168);
}

BOOST_AUTO_TEST_CASE(karras_sigmas_move_the_timesteps) {
  auto choice = run_of(sampler::euler, 4);
  choice.karras = true;
  const auto euler = planned(stable_diffusion(), choice);
  check_near(euler.steps[1].timestep, 687.1533);
  check_near(euler.steps[1].keep_noise, 0.4469);
  choice.sampler = sampler::dpmpp_2m;
  const auto solver = planned(stable_diffusion(), choice);
  BOOST_TEST((timesteps(solver) == std::vector<float>{999, 687, 146, 0}));
}

BOOST_AUTO_TEST_CASE(ancestral_steps_take_karras_sigmas_from_euler) {
  for (const float strength : {1.0f, 0.5f}) {
    auto choice = run_of(sampler::euler, 10, strength);
    choice.karras = true;
    const auto euler = planned(stable_diffusion(), choice);
    choice.sampler = sampler::euler_ancestral;
    const auto sut = planned(stable_diffusion(), choice);
    BOOST_TEST((timesteps(sut) == timesteps(euler)));
    BOOST_TEST(sut.start_noise == euler.start_noise);
    for (size_t i = 0; i < sut.steps.size(); ++i) {
      BOOST_TEST(sut.steps[i].keep_noise == euler.steps[i].keep_noise);
      BOOST_TEST(sut.steps[i].input_scale == euler.steps[i].input_scale);
    }
  }
}

BOOST_AUTO_TEST_CASE(terminal_snr_of_zero_begins_at_sigma_4096) {
  auto config = stable_diffusion();
  config.spacing = timestep_spacing::trailing;
  config.rescale_betas_zero_snr = true;
  config.predicts = prediction::v_prediction;
  const auto sut = planned(config, run_of(sampler::euler, 4));
  BOOST_TEST((timesteps(sut) == std::vector<float>{999, 749, 499, 249}));
  check_near(sut.start_noise, 4096);
  check_near(sut.steps[0].keep_noise, 5.3987);
}

BOOST_AUTO_TEST_CASE(solver_leaves_the_lowest_timestep_out) {
  auto config = stable_diffusion();
  config.spacing = timestep_spacing::leading;
  config.steps_offset = 1;
  const auto sut = planned(config, run_of(sampler::dpmpp_2m, 4));
  BOOST_TEST((timesteps(sut) == std::vector<float>{801, 601, 401, 201}));
}

BOOST_AUTO_TEST_CASE(solver_is_of_first_order_at_both_ends) {
  for (float strength : {1.0f, 0.5f}) {
    const auto sut =
      planned(stable_diffusion(), run_of(sampler::dpmpp_2m, 20, strength));
    const size_t n = sut.steps.size();
    BOOST_TEST(n == static_cast<size_t>(20 * strength));
    BOOST_TEST(sut.needs_last);
    for (size_t i = 0; i < n; ++i)
      BOOST_TEST((sut.steps[i].from_last != 0) == (i > 0 && i + 1 < n));
    BOOST_TEST(sut.steps[n - 1].from_x == 0);
    BOOST_TEST(sut.steps[n - 1].from_x0 == 1);
  }
  const auto two = planned(stable_diffusion(), run_of(sampler::dpmpp_2m, 2));
  BOOST_TEST(!two.needs_last);
}

BOOST_AUTO_TEST_CASE(lcm_spreads_its_steps_over_the_strength) {
  const auto whole = planned({}, run_of(sampler::lcm, 4));
  BOOST_TEST((timesteps(whole) == std::vector<float>{999, 759, 499, 259}));
  const auto half = planned({}, run_of(sampler::lcm, 4, 0.5f));
  BOOST_TEST((timesteps(half) == std::vector<float>{499, 379, 259, 139}));
  for (size_t i = 0; i < 4; ++i)
    BOOST_TEST(whole.draws(i) == (i < 3));
}

BOOST_AUTO_TEST_CASE(lcm_leaves_out_its_first_steps_in_other_pipelines) {
  // The numbers are those of diffusers' StableDiffusionImg2ImgPipeline with an
  // LCMScheduler: the last floor(steps x strength) of the whole schedule.
  auto choice = run_of(sampler::lcm, 4, 0.5f);
  choice.lcm_steps = core::share_steps::cut;
  const auto half = planned({}, choice);
  BOOST_TEST((timesteps(half) == std::vector<float>{499, 259}));
  BOOST_TEST(half.start_clean > 0);
  BOOST_TEST(half.draws(0));
  BOOST_TEST(!half.draws(1));
  choice.strength = 0.8f;
  BOOST_TEST(
    (timesteps(planned({}, choice)) == std::vector<float>{759, 499, 259}));
  // More steps than the share of the distilled ones are no error here.
  choice.steps = 30;
  choice.strength = 0.5f;
  BOOST_TEST(planned({}, choice).steps.size() == 15u);
  choice.strength = 1;
  BOOST_TEST((timesteps(planned({}, choice))
              == timesteps(planned({}, run_of(sampler::lcm, 30)))));
}

BOOST_AUTO_TEST_CASE(flow_matching_is_shifted) {
  const auto sut = planned(flow(3), run_of(sampler::flow_match_euler, 4));
  check_near(sut.steps[0].timestep, 1000);
  check_near(sut.steps[1].timestep, 857.6923);
  check_near(sut.steps[3].timestep, 8.9286);
  BOOST_TEST(sut.start_noise == 1);
}

BOOST_AUTO_TEST_CASE(ancestral_draws_in_every_step_but_the_last) {
  const auto sut =
    planned(stable_diffusion(), run_of(sampler::euler_ancestral, 10));
  for (size_t i = 0; i < 10; ++i)
    BOOST_TEST(sut.draws(i) == (i < 9));
}

BOOST_AUTO_TEST_CASE(eta_makes_ddim_draw) {
  auto choice = run_of(sampler::ddim, 10);
  choice.eta = 0.5f;
  const auto sut = planned(stable_diffusion(), choice);
  BOOST_TEST(sut.draws(0));
  // No noise is drawn if the last step ends at alpha 1.
  BOOST_TEST(!sut.draws(9));
}

BOOST_AUTO_TEST_CASE(a_sampler_brings_its_own_defaults) {
  // If a file states no spacing, DDIM uses leading and Euler linspace.
  const auto config = stable_diffusion();
  BOOST_TEST(planned(config, run_of(sampler::ddim, 4)).steps[0].timestep
             == 750);
  BOOST_TEST(planned(config, run_of(sampler::euler, 4)).steps[0].timestep
             == 999);
  scheduler_config bare;
  BOOST_TEST(planned(bare, run_of(sampler::ddim, 4)).steps[0].clip == 1);
  BOOST_TEST(planned(bare, run_of(sampler::lcm, 4)).steps[0].clip == 0);
  BOOST_TEST(
    planned(stable_diffusion(), run_of(sampler::lcm, 4)).steps[0].x0_from_out
    == planned(bare, run_of(sampler::lcm, 4)).steps[0].x0_from_out);
}

BOOST_AUTO_TEST_CASE(strength_leaves_the_first_steps_out) {
  const auto config = stable_diffusion();
  const auto whole = planned(config, run_of(sampler::euler, 10));
  for (auto [strength, runs] : {std::pair{0.7f, 7u}, std::pair{0.75f, 7u},
                                std::pair{0.29f, 2u}, std::pair{0.1f, 1u}}) {
    const auto sut = planned(config, run_of(sampler::euler, 10, strength));
    BOOST_TEST(sut.steps.size() == runs);
    BOOST_TEST((sut.steps.back() == whole.steps.back()));
    BOOST_TEST(sut.start_clean == 1);
    const auto& before = whole.steps[10 - runs - 1];
    BOOST_TEST(sut.start_noise == before.keep_noise);
  }
  // This rounds down, as Python's int() does.
  BOOST_TEST(planned(config, run_of(sampler::euler, 100, 0.29f)).steps.size()
             == 28u);
  BOOST_TEST(
    planned(flow(), run_of(sampler::flow_match_euler, 10, 0.75f)).steps.size()
    == 8u);
}

BOOST_AUTO_TEST_CASE(a_request_may_space_the_steps_itself) {
  auto trailing = stable_diffusion();
  trailing.spacing = timestep_spacing::trailing;
  for (const auto with : {sampler::ddim, sampler::euler,
                          sampler::euler_ancestral, sampler::dpmpp_2m}) {
    auto choice = run_of(with, 7);
    choice.spacing = core::step_spacing::trailing;
    BOOST_TEST((planned(stable_diffusion(), choice).steps
                == planned(trailing, run_of(with, 7)).steps));
  }
}

BOOST_AUTO_TEST_CASE(sgm_uniform_is_that_of_the_web_ui) {
  // linspace(999, 0, 5)[:-1] and the sigmas there, interpolated in their
  // logarithms.
  const std::vector<float> wanted{999, 749.25f, 499.5f, 249.75f};
  const double sigmas[] = {14.6146412, 4.0860811, 1.6155803, 0.6951495};
  for (const auto with :
       {sampler::euler, sampler::euler_ancestral, sampler::dpmpp_2m}) {
    auto choice = run_of(with, 4);
    choice.spacing = core::step_spacing::sgm_uniform;
    const auto sut = planned(stable_diffusion(), choice);
    BOOST_TEST(timesteps(sut) == wanted, boost::test_tools::per_element());
    for (size_t i = 0; i + 1 < 4; ++i)
      check_near(sut.steps[i].keep_noise / sut.steps[i].keep_clean,
                 sigmas[i + 1]);
    if (with != sampler::dpmpp_2m)
      check_near(sut.start_noise, sigmas[0]);
  }
}

BOOST_AUTO_TEST_CASE(a_spacing_without_effect_is_refused) {
  auto choice = run_of(sampler::lcm, 4);
  choice.spacing = core::step_spacing::trailing;
  BOOST_TEST(refusal(stable_diffusion(), choice)
             == "spacing trailing: sampler lcm has its own; ddim, euler, "
                "euler_ancestral and dpmpp_2m obey it");
  choice = run_of(sampler::ddim, 4);
  choice.spacing = core::step_spacing::sgm_uniform;
  BOOST_TEST(
    refusal(stable_diffusion(), choice)
    == "spacing sgm_uniform: sampler ddim has no sigmas to lie between "
       "its timesteps");
  choice = run_of(sampler::euler, 4);
  choice.karras = true;
  choice.spacing = core::step_spacing::linspace;
  BOOST_TEST(refusal(stable_diffusion(), choice)
             == "spacing linspace with karras true: only one of them can space "
                "the steps");
}

BOOST_AUTO_TEST_CASE(the_web_ui_starts_one_sigma_higher) {
  const auto config = stable_diffusion();
  for (const auto with : {sampler::euler, sampler::dpmpp_2m}) {
    const auto whole = planned(config, run_of(with, 20));
    for (auto [strength, runs] :
         {std::pair{0.75f, 16u}, std::pair{0.01f, 1u}, std::pair{0.96f, 20u}}) {
      auto choice = run_of(with, 20, strength);
      choice.strength_rule = core::strength_rule::webui;
      const auto sut = planned(config, choice);
      // Its steps are those of sigmas[steps - t_enc - 1:].
      BOOST_REQUIRE_EQUAL(sut.steps.size(), runs);
      for (size_t i = 0; i < runs; ++i)
        BOOST_TEST(sut.steps[i].timestep
                   == whole.steps[20 - runs + i].timestep);
      BOOST_TEST(sut.start_clean > 0);
      if (runs < 20)
        BOOST_TEST(sut.start_noise == whole.steps[20 - runs - 1].keep_noise);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_clean_latent_can_be_noised_at_full_strength) {
  auto choice = run_of(sampler::ddim, 10);
  choice.from_clean = true;
  auto config = stable_diffusion();
  config.spacing = timestep_spacing::trailing;
  const auto sut = planned(config, choice);
  check_near(sut.start_clean, std::sqrt(0.0046600998));
  BOOST_TEST(sut.start_clean * sut.start_clean
                 + sut.start_noise * sut.start_noise
               == 1.0f,
             boost::test_tools::tolerance(1e-6f));
}

BOOST_AUTO_TEST_CASE(unmasked_places_end_clean) {
  for (auto with : {sampler::ddim, sampler::euler, sampler::euler_ancestral,
                    sampler::dpmpp_2m, sampler::lcm}) {
    const auto sut = planned(stable_diffusion(), run_of(with, 8));
    for (size_t i = 0; i + 1 < 8; ++i)
      BOOST_TEST(sut.steps[i].keep_noise > sut.steps[i + 1].keep_noise);
    BOOST_TEST(sut.steps[7].keep_clean == 1);
    BOOST_TEST(sut.steps[7].keep_noise == 0);
  }
}

BOOST_AUTO_TEST_CASE(steps_outside_their_range_are_refused) {
  const auto config = stable_diffusion();
  BOOST_TEST(refusal(config, run_of(sampler::ddim, 0))
             == "steps 0 outside 1..1000 (num_train_timesteps)");
  BOOST_TEST(refusal(config, run_of(sampler::euler, 1001))
             == "steps 1001 outside 1..1000 (num_train_timesteps)");
  BOOST_TEST(refusal(config, run_of(sampler::dpmpp_2m, 1000))
             == "steps 1000 outside 1..999 for sampler dpmpp_2m with this "
                "spacing and num_train_timesteps 1000");
  BOOST_TEST(refusal(config, run_of(sampler::lcm, 51))
             == "steps 51 outside 1..50 (original_inference_steps 50 x "
                "strength 1)");
  BOOST_TEST(refusal(config, run_of(sampler::lcm, 30, 0.5f))
             == "steps 30 outside 1..25 (original_inference_steps 50 x "
                "strength 0.5)");
  auto offset = config;
  offset.spacing = timestep_spacing::leading;
  offset.steps_offset = 1;
  BOOST_TEST(refusal(offset, run_of(sampler::ddim, 1000))
             == "steps 1000 with steps_offset 1 begin at timestep 1000, "
                "outside 0..999");
  planned(offset, run_of(sampler::ddim, 999));
  planned(config, run_of(sampler::euler, 1000));
  planned(config, run_of(sampler::dpmpp_2m, 999));
  planned(config, run_of(sampler::lcm, 50));
}

BOOST_AUTO_TEST_CASE(strength_outside_its_range_is_refused) {
  const auto config = stable_diffusion();
  BOOST_TEST(refusal(config, run_of(sampler::ddim, 50, 0.01f))
             == "strength 0.01 of 50 steps runs no step; strength outside "
                "0.02..1");
  BOOST_TEST(refusal(config, run_of(sampler::ddim, 50, 1.5f))
             == "strength 1.5 outside 0.02..1");
  refusal(config, run_of(sampler::ddim, 50, 0));
  refusal(config, run_of(sampler::ddim, 50, -1));
  refusal(config, run_of(sampler::ddim, 50, std::nanf("")));
  BOOST_TEST(refusal(config, run_of(sampler::lcm, 1, 0.01f))
             == "strength 0.01 of 50 original_inference_steps runs no step; "
                "strength outside 0.02..1");
}

BOOST_AUTO_TEST_CASE(the_told_strength_runs_a_step) {
  const auto config = stable_diffusion();
  for (uint32_t n = 1; n <= 1000; ++n) {
    const auto least = static_cast<float>(std::ceil(1e6 / n) / 1e6);
    BOOST_TEST(planned(config, run_of(sampler::ddim, n, least)).steps.size()
               == 1u);
  }
}

BOOST_AUTO_TEST_CASE(what_has_no_meaning_is_refused) {
  const auto config = stable_diffusion();
  auto choice = run_of(sampler::ddim, 10);
  choice.karras = true;
  BOOST_TEST(refusal(config, choice)
             == "karras true: sampler ddim has no sigmas; euler, "
                "euler_ancestral, dpmpp_2m and flow_match_euler have");
  choice = run_of(sampler::euler, 10);
  choice.eta = 0.5f;
  BOOST_TEST(refusal(config, choice)
             == "eta 0.5 outside 0..0 for sampler euler");
  choice = run_of(sampler::ddim, 10);
  choice.eta = 1.5f;
  BOOST_TEST(refusal(config, choice) == "eta 1.5 outside 0..1");
  BOOST_TEST(refusal(flow(), run_of(sampler::ddim, 10))
             == "sampler ddim cannot run a model that predicts flow, only "
                "flow_match_euler can");
  BOOST_TEST(refusal(config, run_of(sampler::flow_match_euler, 10))
             == "sampler flow_match_euler cannot run a model that does not "
                "predict flow");
}

BOOST_AUTO_TEST_CASE(what_diffusers_cannot_run_is_refused) {
  auto config = stable_diffusion();
  config.predicts = prediction::sample;
  BOOST_TEST(refusal(config, run_of(sampler::euler_ancestral, 10))
             == "sampler euler_ancestral cannot run a model that predicts "
                "sample, only epsilon and v_prediction");
  config.predicts = prediction::epsilon;
  config.rescale_betas_zero_snr = true;
  config.spacing = timestep_spacing::trailing;
  BOOST_TEST(refusal(config, run_of(sampler::ddim, 10))
             == "prediction_type epsilon at timestep 999: with "
                "rescale_betas_zero_snr no signal is left there to divide by; "
                "v_prediction, sample and clip_sample can start there");
  refusal(config, run_of(sampler::lcm, 4));
  config.clip_sample = true;
  planned(config, run_of(sampler::ddim, 10));
  config.clip_sample = false;
  config.spacing = timestep_spacing::leading;
  planned(config, run_of(sampler::ddim, 10));
}

BOOST_AUTO_TEST_CASE(schedules_without_noise_or_signal_are_refused) {
  auto config = stable_diffusion();
  config.beta_start = 0;
  BOOST_TEST(refusal(config, run_of(sampler::euler, 10))
             == "beta_start 0 outside 0..1");
  config.beta_start = 1e-12;
  config.beta_end = 1e-12;
  refusal(config, run_of(sampler::euler, 10));
  config.beta_start = 0.9;
  config.beta_end = 0.99;
  refusal(config, run_of(sampler::euler, 10));
  config = {};
  config.trained_betas = {0.1, 0.2};
  BOOST_TEST(refusal(config, run_of(sampler::euler, 2))
             == "trained_betas has 2 values, num_train_timesteps is 1000");
  config.num_train_timesteps = 2;
  planned(config, run_of(sampler::euler, 2));
  config.num_train_timesteps = 0;
  BOOST_TEST(refusal(config, run_of(sampler::euler, 2))
             == "num_train_timesteps 0 outside 1..100000");
}

BOOST_AUTO_TEST_SUITE_END()
