// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/family.hpp>
#include <atelier/training/loops/shapes.hpp>

namespace atelier::gpu {

autoencoder_config autoencoder_shape(training_scale scale) {
  auto out = family_autoencoder();
  if (scale == training_scale::miniature)
    out.block_out_channels = {4, 4, 8, 8};
  return out;
}

autoencoder_config preview_shape(training_scale scale) {
  auto out = family_tiny_autoencoder();
  if (scale == training_scale::miniature)
    out.encoder_channels = out.decoder_channels = 4;
  return out;
}

clip_text_config text_encoder_shape(training_scale scale) {
  auto out = family_text_encoder();
  if (scale == training_scale::miniature)
    out.layers = 1;
  return out;
}

scorer_config scorer_shape(training_scale scale) {
  auto out = family_scorer();
  if (scale == training_scale::miniature) {
    out.text.layers = 1;
    out.layers = 1;
  }
  return out;
}

discriminator_config discriminator_shape(training_scale scale) {
  auto out = family_discriminator();
  out.towers = scorer_shape(scale);
  return out;
}

prompt_classifier_config prompt_classifier_shape(training_scale scale) {
  auto out = family_prompt_classifier();
  if (scale == training_scale::miniature)
    out.text = text_encoder_shape(scale);
  return out;
}

unet_config denoiser_shape(training_part part, training_scale scale) {
  if (scale == training_scale::miniature)
    return family_unet(family_member::tiny);
  return family_unet(part == training_part::small  ? family_member::small
                     : part == training_part::tiny ? family_member::tiny
                                                   : family_member::base);
}

} // namespace atelier::gpu
