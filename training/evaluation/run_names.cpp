// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/evaluation/run_names.hpp>
#include <atelier/training/family.hpp>

#include <fmt/format.h>

namespace atelier::gpu {

std::vector<float> guidances_of(const evaluation_plan& plan,
                                const evaluated_variant& x) {
  return x.model == to_string(family_member::turbo) ? std::vector<float>{1}
                                                    : plan.guidances;
}

std::string run_name(const evaluated_variant& x, float guidance,
                     core::sampler with) {
  return fmt::format("{}@{}-{}-{}", x.model, x.steps, guidance,
                     to_string(with));
}

std::vector<std::string> run_names(const evaluation_plan& plan) {
  std::vector<std::string> out;
  for (const auto& x : plan.variants)
    for (const auto guidance : guidances_of(plan, x))
      for (const auto with : plan.samplers)
        out.push_back(run_name(x, guidance, with));
  return out;
}

} // namespace atelier::gpu
