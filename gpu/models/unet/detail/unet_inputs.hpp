// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>

#include <string>

namespace atelier::gpu::detail {

/// Checks that a denoiser maps a latent to a prediction of the same shape, and
/// takes no further maps.
/// Errors: ec::bad_config.
core::result<void> check_channels(const unet_config& denoiser,
                                  const std::string& file);

/// Checks that the text encoders, if present, supply vectors of the widths that
/// the denoiser takes.
/// Errors: ec::bad_config.
core::result<void> check_texts(const unet_config& denoiser,
                               const model_files& model);

} // namespace atelier::gpu::detail
