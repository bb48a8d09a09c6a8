// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/detail/config_reader.hpp>
#include <atelier/gpu/models/detail/tensor_table.hpp>

namespace atelier::gpu::detail {

/// Adds what a UNet2DConditionModel has; faults are noted in `x`.
void expect_unet(config_reader& x, tensor_table& to);

} // namespace atelier::gpu::detail
