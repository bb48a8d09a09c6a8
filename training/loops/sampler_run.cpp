// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/samplers/step.hpp>
#include <atelier/training/loops/sampler_run.hpp>

#include <vector>

namespace atelier::gpu {

torch::Tensor run_sampler(const denoise_function& denoise, torch::Tensor x,
                          const sampler_run& how) {
  const auto n = x.size(0);
  const auto rows = static_cast<size_t>(n);
  const auto guided = how.guidance != 1;
  const auto context =
    guided ? torch::cat({how.unsaid.expand_as(how.context), how.context})
           : how.context;
  const std::vector<float> scales(rows, how.guidance);
  const std::vector<float> rescales(rows, 0.f);
  torch::Tensor last;
  for (auto i = how.first; i < how.plan.steps.size(); ++i) {
    const auto& rule = how.plan.steps[i];
    const std::vector<step_rule> rules(rows, rule);
    const auto in = scale_input(x, rules);
    const auto out =
      denoise(guided ? torch::cat({in, in}) : in,
              torch::full({context.size(0)}, rule.timestep, x.options()),
              context)
        .to(torch::kFloat32);
    const auto halves = out.chunk(guided ? 2 : 1);
    const auto noise = how.plan.draws(i) ? how.noise(i) : torch::Tensor{};
    const auto done = step(
      x, guided ? guide(halves[0], halves[1], scales, rescales) : halves[0],
      last, noise, rules);
    x = done.next;
    last = how.plan.needs_last ? done.x0 : last;
    if (how.told)
      how.told(i, x);
  }
  return x;
}

} // namespace atelier::gpu
