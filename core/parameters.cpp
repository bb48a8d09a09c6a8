// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/limits.hpp>
#include <atelier/core/parameters.hpp>

namespace atelier::core {

double most_steps(const limits& within) {
  return within.steps;
}

double most_guidance(const limits& within) {
  return within.guidance;
}

double most_of(const parameter& x, const limits& within) {
  return x.bound == nullptr ? x.most : x.bound(within);
}

bool asks_for_any(const wanted_parameters& x) {
  return x != wanted_parameters{};
}

void take_asked(const wanted_parameters& chosen,
                const settled_parameters& settled, used_parameters& into) {
  each_parameter([&](const parameter&, auto at) {
    if constexpr (requires { chosen.*at.asked; })
      into.*at.used = (chosen.*at.asked).value_or(into.*at.used);
    else if constexpr (requires { at.used; })
      into.*at.used = settled.*at.asked;
  });
}

} // namespace atelier::core
