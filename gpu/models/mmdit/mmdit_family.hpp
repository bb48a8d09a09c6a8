// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/family.hpp>

namespace atelier::gpu {

/// Two CLIP text encoders and a transformer of joint blocks. A third text
/// encoder, T5, is rejected: models draw without it.
extern const model_pipeline stable_diffusion_3;

extern const family mmdit_family;

} // namespace atelier::gpu
