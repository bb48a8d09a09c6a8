// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <cstddef>

namespace atelier::gpu {

/// Runs a task in `folder` as `train` describes: steps, reports, measurements,
/// checkpoints, and the weights at the end. Computes each batch in `threads`
/// parts in parallel.
/// Errors and threads: as for `train`.
core::result<training_outcome> run_training(training_task& task,
                                            const training_config& config,
                                            const std::filesystem::path& folder,
                                            const training_listener& told,
                                            size_t threads);

} // namespace atelier::gpu
