// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains a small AutoencoderTiny for the autoencoder's latents. Its decoder
/// learns to restore the images from the latents, and its encoder to return the
/// latents.
/// Figures: `psnr`, in dB, and `objects` and `pictures`, the shares that the
/// image check finds right, are those of decoded images. `code` is the mean
/// squared error of the encoder's latents; the mean square of the latents is
/// about 1.
/// Throws model_error: ec::not_found (the autoencoder is not trained yet),
/// ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_preview_task(const training_config& config,
                                                 torch::Device where);

} // namespace atelier::gpu
