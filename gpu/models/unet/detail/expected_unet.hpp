// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/detail/tensor_table.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>

namespace atelier::gpu::detail {

/// Adds what a UNet2DConditionModel has.
void expect_unet(const unet_config& config, tensor_table& to);

} // namespace atelier::gpu::detail
