// SPDX-License-Identifier: Apache-2.0
#include "configs.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/gpu/samplers/detail/step_values.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <initializer_list>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;
using core::sampler;

namespace {

/// Generates configs and choices, many of which are at or outside the ends of
/// their range.
class generator {
public:
  generator() : random_(test::seed(), core::purpose::test) {}

  scheduler_config config() {
    scheduler_config out;
    out.num_train_timesteps =
      one_of<uint32_t>({1, 2, 3, 10, 100, 999, 1000, 1000, 1000, 4000});
    if (coin())
      out.beta_start = one_of({1e-9, 1e-4, 0.00085, 0.01, 0.5});
    if (coin())
      out.beta_end = one_of({1e-9, 1e-3, 0.012, 0.02, 0.999});
    if (coin())
      out.betas = one_of({beta_schedule::linear, beta_schedule::scaled_linear,
                          beta_schedule::squaredcos_cap_v2});
    if (random_.below(8) == 0)
      for (uint32_t i = 0; i < out.num_train_timesteps; ++i)
        out.trained_betas.push_back(random_.uniform() * 0.1);
    out.predicts = one_of({prediction::epsilon, prediction::v_prediction,
                           prediction::sample, prediction::flow});
    if (coin())
      out.spacing =
        one_of({timestep_spacing::leading, timestep_spacing::trailing,
                timestep_spacing::linspace});
    out.steps_offset = one_of({0, 0, 1, 1, 7, 999, -1});
    if (coin())
      out.set_alpha_to_one = coin();
    if (coin())
      out.clip_sample = coin();
    out.clip_sample_range = one_of({1.0, 1e-3, 1e6, 0.0});
    out.rescale_betas_zero_snr = coin();
    if (coin())
      out.interpolation_type = sigma_interpolation::log_linear;
    if (coin())
      out.timestep_type = timestep_kind::continuous;
    out.original_inference_steps = one_of<uint32_t>({0, 1, 8, 50, 1000, 4000});
    out.timestep_scaling = one_of({10.0, 1e-6, 1e6, 0.0});
    out.shift = one_of({1.0, 3.0, 1e-6, 1000.0, 0.0, -1.0});
    return out;
  }

  sampler_choice choice(uint32_t train) {
    sampler_choice out;
    out.sampler = static_cast<sampler>(random_.below(core::sampler_count));
    out.steps = static_cast<uint32_t>(coin() ? random_.below(train + 2)
                                             : random_.below(60));
    if (coin())
      out.strength = static_cast<float>(random_.uniform() * 1.01);
    if (row_of(out.sampler).has_eta && coin())
      out.eta = one_of({0.3f, 1.0f, 1e-40f, 1.1f});
    out.karras = core::has_karras_sigmas(out.sampler) && coin();
    out.from_clean = coin();
    return out;
  }

  float normal() {
    return static_cast<float>(random_.normal());
  }

private:
  bool coin() {
    return random_.below(2) == 0;
  }

  template <class T>
  T one_of(std::initializer_list<T> all) {
    return *(all.begin() + random_.below(all.size()));
  }

  core::philox random_;
};

bool is_finite(const sampler_plan& plan) {
  bool out = std::isfinite(plan.start_clean) && std::isfinite(plan.start_noise);
  for (const auto& x : plan.steps)
    for (float value : {x.timestep, x.input_scale, x.x0_from_x, x.x0_from_out,
                        x.clip, x.from_x, x.from_out, x.from_x0, x.from_last,
                        x.from_noise, x.keep_clean, x.keep_noise})
      out = out && std::isfinite(value);
  return out;
}

/// Returns whether a run on noise stays finite.
bool runs_finite(generator& random, const sampler_plan& plan) {
  float x = plan.start_clean + plan.start_noise * random.normal();
  float last = 0;
  for (const auto& rule : plan.steps) {
    const float out = random.normal();
    const float noise = random.normal();
    float next = 0;
    float x0 = 0;
    run_step(rule, {&x, &out, &last, &noise, &next, &x0}, 1);
    x = next;
    last = x0;
    if (!std::isfinite(x) || !std::isfinite(x0))
      return false;
  }
  return true;
}

} // namespace

BOOST_AUTO_TEST_SUITE(random_schedules_test)

BOOST_AUTO_TEST_CASE(accepted_runs_stay_finite_and_refused_ones_say_why) {
  generator random;
  size_t accepted = 0;
  const size_t n = test::scaled(200'000);
  for (size_t i = 0; i < n; ++i) {
    auto config = random.config();
    auto choice = random.choice(config.num_train_timesteps);
    if (row_of(choice.sampler).matches_flow)
      config.predicts = prediction::flow;
    const auto plan = plan_sampler(config, choice);
    if (!plan) {
      BOOST_TEST((plan.why().code == core::ec::invalid_argument));
      BOOST_TEST(plan.why().text.size() > 10u);
      continue;
    }
    ++accepted;
    BOOST_TEST_CONTEXT("case " << i << ", sampler " << to_string(choice.sampler)
                               << ", steps " << choice.steps) {
      BOOST_TEST(!plan->steps.empty());
      BOOST_TEST(plan->steps.size() <= choice.steps);
      BOOST_TEST(is_finite(*plan));
      BOOST_TEST(runs_finite(random, *plan));
      BOOST_TEST(plan->steps.back().keep_noise == 0);
      BOOST_TEST((!plan->draws(plan->steps.size() - 1)
                  || row_of(choice.sampler).has_eta));
    }
  }
  BOOST_TEST_MESSAGE(accepted << " of " << n << " accepted");
  BOOST_TEST(accepted > n / 20);
}

BOOST_AUTO_TEST_CASE(every_number_of_steps_has_an_answer) {
  for (auto with : {sampler::ddim, sampler::euler, sampler::euler_ancestral,
                    sampler::dpmpp_2m, sampler::lcm})
    for (auto spacing : {timestep_spacing::leading, timestep_spacing::trailing,
                         timestep_spacing::linspace}) {
      auto config = test::stable_diffusion();
      config.spacing = spacing;
      config.num_train_timesteps = 100;
      for (uint32_t n = 1; n <= 100; ++n) {
        const auto plan = plan_sampler(config, test::run_of(with, n));
        const bool too_many = (with == sampler::lcm && n > 50)
                           || (with == sampler::dpmpp_2m && n == 100
                               && spacing != timestep_spacing::trailing);
        BOOST_TEST(static_cast<bool>(plan) == !too_many);
        if (plan) {
          BOOST_TEST(plan->steps.size() == n);
          for (size_t i = 1; i < n; ++i)
            BOOST_TEST(plan->steps[i].timestep < plan->steps[i - 1].timestep);
        }
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
