// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/stage.hpp>

namespace atelier::actors {

/// Returns the stage that runs a leg's steps and draws its image. It is there
/// by its row alone, for its place and its slots: its worker batches by itself
/// (denoise_step.hpp), and its order and its reply have messages of their own.
planning::stage_ptr denoise_stage();

} // namespace atelier::actors
