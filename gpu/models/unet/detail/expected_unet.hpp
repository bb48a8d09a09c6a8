// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/detail/tensor_table.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>

namespace atelier::gpu::detail {

/// Adds the tensors of a UNet2DConditionModel.
void expect_unet(const unet_config& config, tensor_table& to);

} // namespace atelier::gpu::detail
