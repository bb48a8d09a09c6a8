// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/train.hpp>

namespace atelier::runtime {

/// Trains as gpu::train does if this program was built with LibTorch.
/// Errors: ec::not_found if it was not; otherwise those of gpu::train.
core::result<gpu::training_outcome> train(const gpu::training_config& config,
                                          const gpu::training_listener& told);

} // namespace atelier::runtime
