// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/clip/clip_text_config.hpp>

#include <cstdint>
#include <string>

namespace atelier::gpu {

/// Pixels of a side of the family's images, and elements of a side of their
/// latents.
inline constexpr int64_t family_side = 128;
inline constexpr int64_t family_latent_side = 16;
/// Tokens of a text, including start and end. About two in a million captions
/// of three objects are longer, and lose their last word.
inline constexpr uint32_t family_tokens = 48;
/// Width of the text encoder, and so of the denoisers' context.
inline constexpr int64_t family_text_width = 128;

/// The text encoder's config.json, as transformers reads it, and the
/// configuration that this library reads from it.
std::string text_encoder_config_text();
clip_text_config family_text_encoder();

/// CLIP's two towers, which score how well a text fits an image.
struct scorer_config {
  /// The text tower, with a projection of the same width as the image tower's.
  clip_text_config text;
  /// Pixels of the images' side, and of the square patches that become tokens.
  int64_t side = family_side;
  int64_t patch = 16;
  int64_t width = 128;
  int64_t inner = 512;
  int64_t layers = 4;
  int64_t heads = 4;
};

/// Return the config.json that transformers' CLIPModel reads, and the
/// configuration that this library reads from it.
std::string scorer_config_text();
scorer_config family_scorer();

/// Judges whether an image is a good one for its caption.
struct discriminator_config {
  /// The towers that read the image and the caption.
  scorer_config towers;
  /// Width of the layers that weigh the evidence of both.
  int64_t inner = 64;
};

/// Return the shape with the family's scorer as towers, and its config.json.
discriminator_config family_discriminator();
std::string discriminator_config_text();

} // namespace atelier::gpu
