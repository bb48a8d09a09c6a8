// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/stage.hpp>

namespace atelier::actors {

/// Returns the stage that runs a leg's steps and draws its image. Only its row
/// is used, for its place and its slots: its worker batches by itself
/// (denoise_step.hpp), and its order and its reply have their own messages.
planning::stage_ptr denoise_stage();

} // namespace atelier::actors
