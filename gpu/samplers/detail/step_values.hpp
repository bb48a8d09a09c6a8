// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/samplers/schedule.hpp>

#include <cstddef>
#include <span>

namespace atelier::gpu {

/// The values of one row, or of a part of one, before and after a step.
struct step_values {
  const float* x;
  const float* out;
  /// Read only if the rule has a coefficient for them that is not 0.
  const float* last;
  const float* noise;
  float* next;
  float* x0;
};

/// Runs one rule over n values in one pass. Each value takes the same float32
/// operations in the order of step_rule's formula, without fusion.
void run_step(const step_rule& rule, const step_values& at, size_t n);

/// Mixes two predictions: into = unguided + scale * (guided - unguided).
void mix_guidance(std::span<const float> unguided,
                  std::span<const float> guided, float scale, float* into);

/// Returns the sample standard deviation, with n - 1 in the divisor, summed in
/// float64 in an order that depends only on n; 0 below two values.
double deviation(std::span<const float> values);

/// Returns the factor that pulls the deviation of `mixed` towards that of
/// `guided` by `rescale`; 1 if `mixed` has none.
/// Source: arXiv 2305.08891, section 3.4
float rescale_factor(double guided, double mixed, float rescale);

} // namespace atelier::gpu
