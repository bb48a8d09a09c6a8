// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/evaluation/evaluation.hpp>

namespace atelier::runtime {

/// Measures as gpu::evaluate does if this program was built with LibTorch.
/// Errors: ec::not_found if it was not; otherwise those of gpu::evaluate.
core::result<gpu::evaluation> evaluate(const gpu::evaluation_plan& plan,
                                       const gpu::evaluation_listener& told);

} // namespace atelier::runtime
