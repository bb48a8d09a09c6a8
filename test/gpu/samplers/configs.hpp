// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/samplers/schedule.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace atelier::test {

/// Returns the noise schedule of Stable Diffusion 1.x, without its file's
/// offset.
inline gpu::scheduler_config stable_diffusion() {
  gpu::scheduler_config out;
  out.beta_start = 0.00085;
  out.beta_end = 0.012;
  out.betas = gpu::beta_schedule::scaled_linear;
  out.clip_sample = false;
  return out;
}

inline gpu::sampler_choice run_of(core::sampler with, uint32_t steps,
                                  float strength = 1) {
  gpu::sampler_choice out;
  out.sampler = with;
  out.steps = steps;
  out.strength = strength;
  return out;
}

inline gpu::sampler_plan planned(const gpu::scheduler_config& config,
                                 const gpu::sampler_choice& choice) {
  auto out = gpu::plan_sampler(config, choice);
  BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
  return *std::move(out);
}

/// Returns why a run is refused.
inline std::string refusal(const gpu::scheduler_config& config,
                           const gpu::sampler_choice& choice) {
  const auto out = gpu::plan_sampler(config, choice);
  BOOST_REQUIRE(!out);
  BOOST_TEST((out.why().code == core::ec::invalid_argument));
  return out.why().text;
}

} // namespace atelier::test
