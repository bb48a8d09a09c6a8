// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

using namespace atelier;
using namespace atelier::gpu;
using core::sampler;

namespace {

scheduler_config parsed(std::string_view json) {
  const auto out = parse_scheduler(json, "file");
  BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
  return *out;
}

std::string refusal(std::string_view json) {
  const auto out = parse_scheduler(json, "file");
  BOOST_REQUIRE(!out);
  BOOST_TEST((out.why().code == core::ec::bad_config));
  return out.why().text;
}

std::string with_key(std::string_view key, std::string_view value) {
  return R"({"_class_name": "DDIMScheduler", ")" + std::string{key} + R"(": )"
       + std::string{value} + "}";
}

constexpr std::string_view stable_diffusion_1 = R"({
  "_class_name": "PNDMScheduler", "_diffusers_version": "0.6.0",
  "beta_end": 0.012, "beta_schedule": "scaled_linear", "beta_start": 0.00085,
  "num_train_timesteps": 1000, "set_alpha_to_one": false,
  "skip_prk_steps": true, "steps_offset": 1, "trained_betas": null,
  "clip_sample": false})";

constexpr std::string_view solver = R"({
  "_class_name": "DPMSolverMultistepScheduler",
  "_diffusers_version": "0.42.1", "algorithm_type": "dpmsolver++",
  "beta_end": 0.02, "beta_schedule": "linear", "beta_start": 0.0001,
  "dynamic_thresholding_ratio": 0.995, "euler_at_final": false,
  "final_sigmas_type": "zero", "flow_shift": 1.0,
  "lambda_min_clipped": -Infinity, "lower_order_final": true,
  "num_train_timesteps": 1000, "prediction_type": "v_prediction",
  "rescale_betas_zero_snr": true, "sample_max_value": 1.0, "solver_order": 2,
  "solver_type": "midpoint", "steps_offset": 0, "thresholding": false,
  "time_shift_type": "exponential", "timestep_spacing": "trailing",
  "trained_betas": null, "use_beta_sigmas": false,
  "use_dynamic_shifting": false, "use_exponential_sigmas": false,
  "use_flow_sigmas": false, "use_karras_sigmas": true,
  "use_lu_lambdas": false, "variance_type": null})";

} // namespace

BOOST_AUTO_TEST_SUITE(parse_scheduler_test)

BOOST_AUTO_TEST_CASE(file_of_stable_diffusion_1_is_read_as_ddim) {
  const auto sut = parsed(stable_diffusion_1);
  BOOST_TEST((sut.sampler == sampler::ddim));
  BOOST_TEST(sut.stands_in_for == "PNDMScheduler");
  BOOST_TEST(*sut.beta_start == 0.00085);
  BOOST_TEST(*sut.beta_end == 0.012);
  BOOST_TEST((sut.betas == beta_schedule::scaled_linear));
  BOOST_TEST(sut.steps_offset == 1);
  BOOST_TEST(*sut.set_alpha_to_one == false);
  BOOST_TEST(*sut.clip_sample == false);
  BOOST_TEST(!sut.spacing.has_value());
}

BOOST_AUTO_TEST_CASE(file_with_every_key_of_the_solver_is_read) {
  const auto sut = parsed(solver);
  BOOST_TEST((sut.sampler == sampler::dpmpp_2m));
  BOOST_TEST(sut.use_karras_sigmas);
  BOOST_TEST(sut.rescale_betas_zero_snr);
  BOOST_TEST((sut.predicts == prediction::v_prediction));
  BOOST_TEST((sut.spacing == timestep_spacing::trailing));
  BOOST_TEST(sut.stands_in_for.empty());
}

BOOST_AUTO_TEST_CASE(classes_name_their_sampler) {
  const auto of = [](std::string_view name) {
    return parsed(R"({"_class_name": ")" + std::string{name} + R"("})").sampler;
  };
  BOOST_TEST((of("DDIMScheduler") == sampler::ddim));
  BOOST_TEST((of("PNDMScheduler") == sampler::ddim));
  BOOST_TEST((of("EulerDiscreteScheduler") == sampler::euler));
  BOOST_TEST(
    (of("EulerAncestralDiscreteScheduler") == sampler::euler_ancestral));
  BOOST_TEST((of("DPMSolverMultistepScheduler") == sampler::dpmpp_2m));
  BOOST_TEST((of("LCMScheduler") == sampler::lcm));
  BOOST_TEST(
    (of("FlowMatchEulerDiscreteScheduler") == sampler::flow_match_euler));
}

BOOST_AUTO_TEST_CASE(classes_without_a_sampler_are_drawn_by_a_similar_one) {
  for (const auto& x : core::stand_ins) {
    const auto sut =
      parsed(R"({"_class_name": ")" + std::string{x.diffusers}
             + R"(", "prediction_type": "v_prediction", "beta_start": 0.00085,
          "solver_type": "bh2", "solver_order": 3, "lower_order_final": false,
          "predict_x0": true, "disable_corrector": []})");
    BOOST_TEST((sut.sampler == x.runs), x.diffusers);
    BOOST_TEST(sut.stands_in_for == x.diffusers);
    BOOST_TEST((sut.predicts == prediction::v_prediction), x.diffusers);
    BOOST_TEST(*sut.beta_start == 0.00085);
  }
  // Such a network has other outputs, whatever the sampler.
  refusal(R"({"_class_name": "DDPMScheduler",
              "variance_type": "learned_range"})");
}

BOOST_AUTO_TEST_CASE(flow_matching_predicts_flow) {
  const auto sut = parsed(
    R"({"_class_name": "FlowMatchEulerDiscreteScheduler", "shift": 3.0,
        "base_shift": 0.5, "max_shift": 1.15, "base_image_seq_len": 256,
        "max_image_seq_len": 4096, "invert_sigmas": false,
        "shift_terminal": null, "use_dynamic_shifting": false,
        "stochastic_sampling": false})");
  BOOST_TEST((sut.predicts == prediction::flow));
  BOOST_TEST(sut.shift == 3);
}

BOOST_AUTO_TEST_CASE(unsupported_classes_are_named) {
  BOOST_TEST(refusal(R"({"_class_name": "TCDScheduler"})")
               .starts_with("file: _class_name \"TCDScheduler\" is not "
                            "supported; supported: DDIMScheduler"));
  BOOST_TEST(refusal("{}") == "file: _class_name is missing");
  refusal(R"({"_class_name": 3})");
  refusal(R"({"_class_name": ["DDIMScheduler"]})");
}

BOOST_AUTO_TEST_CASE(keys_that_change_the_numbers_are_refused) {
  const std::pair<std::string_view, std::string_view> all[] = {
    {"thresholding", "true"},
    {"use_exponential_sigmas", "true"},
    {"use_beta_sigmas", "true"},
    {"use_lu_lambdas", "true"},
    {"use_flow_sigmas", "true"},
    {"euler_at_final", "true"},
    {"use_dynamic_shifting", "true"},
    {"invert_sigmas", "true"},
    {"stochastic_sampling", "true"},
    {"sigma_min", "0.002"},
    {"sigma_max", "700"},
    {"shift_terminal", "0.1"},
    {"final_sigmas_type", "\"sigma_min\""},
    {"algorithm_type", "\"sde-dpmsolver++\""},
    {"solver_type", "\"heun\""},
    {"solver_order", "3"},
    {"lower_order_final", "false"},
    {"variance_type", "\"learned_range\""},
    {"lambda_min_clipped", "-5.1"},
  };
  for (const auto& [key, value] : all) {
    const auto text = refusal(with_key(key, value));
    BOOST_TEST(text.starts_with("file: " + std::string{key} + " is "
                                + std::string{value} + "; supported: "));
  }
}

BOOST_AUTO_TEST_CASE(values_outside_their_range_are_refused) {
  BOOST_TEST(refusal(with_key("num_train_timesteps", "0"))
             == "file: num_train_timesteps is 0; supported: 1..100000");
  BOOST_TEST(refusal(with_key("beta_schedule", "\"cosine\""))
             == "file: beta_schedule is \"cosine\"; supported: linear, "
                "scaled_linear, squaredcos_cap_v2");
  const std::pair<std::string_view, std::string_view> all[] = {
    {"num_train_timesteps", "4294967296"},
    {"num_train_timesteps", "-1"},
    {"num_train_timesteps", "1000.5"},
    {"num_train_timesteps", "\"1000\""},
    {"beta_start", "0"},
    {"beta_start", "NaN"},
    {"beta_end", "1"},
    {"beta_end", "Infinity"},
    {"beta_end", "null"},
    {"beta_schedule", "[[[]]]"},
    {"trained_betas", "[]"},
    {"trained_betas", "[0.1, \"x\"]"},
    {"trained_betas", "[0.1]"},
    {"trained_betas", "{}"},
    {"prediction_type", "\"flow_prediction\""},
    {"prediction_type", "null"},
    {"timestep_spacing", "1"},
    {"steps_offset", "1000"},
    {"steps_offset", "-1"},
    {"clip_sample", "1"},
    {"clip_sample_range", "0"},
    {"original_inference_steps", "0"},
    {"timestep_scaling", "-1"},
    {"shift", "0"},
    {"interpolation_type", "\"cubic\""},
    {"timestep_type", "\"\""},
  };
  for (const auto& [key, value] : all)
    BOOST_TEST(refusal(with_key(key, value)).find(key) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(unknown_keys_are_refused_unless_private) {
  BOOST_TEST(refusal(with_key("beta_middle", "1"))
             == "file: key \"beta_middle\" is not known");
  parsed(with_key("_note", "{\"x\": [1]}"));
}

BOOST_AUTO_TEST_CASE(texts_that_are_no_object_are_refused) {
  for (std::string_view text :
       {"", "null", "[]", "3", "\"{}\"", "{", "{\"_class_name\"}",
        "{\"_class_name\": \"\xff\"}", "{\"beta_end\": 1e999}", "-Infinity",
        "{Infinity: 1}", "\"\\"})
    refusal(text);
}

BOOST_AUTO_TEST_CASE(deep_and_long_values_are_shown_short) {
  const std::string deep(200'000, '[');
  refusal(with_key("beta_schedule", deep + std::string(200'000, ']')));
  refusal(deep);
  const auto text =
    refusal(with_key("beta_schedule", "\"" + std::string(1 << 20, 'x') + "\""));
  BOOST_TEST(text.size() < 200u);
  BOOST_TEST(refusal(with_key(std::string(1 << 20, 'x'), "1")).size() < 200u);
}

BOOST_AUTO_TEST_CASE(hostile_texts_do_not_crash) {
  core::philox random{test::seed(), core::purpose::test};
  const std::string sources[] = {std::string{stable_diffusion_1},
                                 std::string{solver}};
  size_t accepted = 0;
  for (size_t i = 0; i < test::scaled(1'000'000); ++i) {
    auto text = sources[i % 2];
    for (uint64_t n = random.below(4); n > 0; --n) {
      const auto at = random.below(text.size());
      switch (random.below(3)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.erase(at, random.below(20));
          break;
        default:
          text.insert(at,
                      text.substr(random.below(text.size()), random.below(20)));
      }
    }
    const auto out = parse_scheduler(text, "file");
    if (out)
      ++accepted;
    else
      BOOST_TEST(out.why().text.starts_with("file: "));
  }
  BOOST_TEST(accepted > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
