// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/evaluation/evaluation.hpp>

#include <string>
#include <vector>

namespace atelier::gpu {

/// Returns the guidances that a variant runs with: turbo's is always 1.
std::vector<float> guidances_of(const evaluation_plan& plan,
                                const evaluated_variant& x);

/// Returns the name of a run and of its contact sheet:
/// "MODEL@STEPS-GUIDANCE-SAMPLER".
std::string run_name(const evaluated_variant& x, float guidance,
                     core::sampler with);

/// Returns the names of all runs of a plan, in their order.
std::vector<std::string> run_names(const evaluation_plan& plan);

} // namespace atelier::gpu
