// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/evaluation/evaluation.hpp>

namespace atelier::runtime {

/// Measures as gpu::evaluate does, where this program was built with LibTorch.
/// Errors: ec::not_found where it was not; else those of gpu::evaluate.
core::result<gpu::evaluation> evaluate(const gpu::evaluation_plan& plan,
                                       const gpu::evaluation_listener& told);

} // namespace atelier::runtime
