// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/judge/prompt_classifier_config.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/train.hpp>

namespace atelier::gpu {

// Each function returns the shape of a network that can be trained: the
// family's, or a smaller one for tests.

autoencoder_config autoencoder_shape(training_scale scale);
autoencoder_config preview_shape(training_scale scale);
clip_text_config text_encoder_shape(training_scale scale);
scorer_config scorer_shape(training_scale scale);
discriminator_config discriminator_shape(training_scale scale);
prompt_classifier_config prompt_classifier_shape(training_scale scale);

/// @pre `part` is a denoiser
unet_config denoiser_shape(training_part part, training_scale scale);

} // namespace atelier::gpu
