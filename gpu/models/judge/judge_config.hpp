// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/clip/clip_text_config.hpp>

#include <cstdint>
#include <string>

namespace atelier::gpu {

/// Pixels of a side of the family's pictures, and elements of a side of their
/// latents.
inline constexpr int64_t family_side = 128;
inline constexpr int64_t family_latent_side = 16;
/// Tokens of a text, start and end included. Of a million captions of three
/// objects about two say more than fits, and lose their last word.
inline constexpr uint32_t family_tokens = 48;
/// Width of the text encoder, hence of what the denoisers look at.
inline constexpr int64_t family_text_width = 128;

/// The text encoder's config.json, as transformers reads it, and what this
/// library reads from it.
std::string text_encoder_config_text();
clip_text_config family_text_encoder();

/// CLIP's two towers: how well a text fits a picture.
struct scorer_config {
  /// With a projection, which is that of both.
  clip_text_config text;
  /// Pixels of the pictures' side, and of the squares that are its tokens.
  int64_t side = family_side;
  int64_t patch = 16;
  int64_t width = 128;
  int64_t inner = 512;
  int64_t layers = 4;
  int64_t heads = 4;
};

/// As transformers' CLIPModel reads it.
std::string scorer_config_text();
scorer_config family_scorer();

/// Tells whether a picture is a good one of its caption.
struct discriminator_config {
  /// Looks at the picture and reads the caption.
  scorer_config towers;
  /// Width of what weighs both.
  int64_t inner = 64;
};

/// With the family's scorer.
discriminator_config family_discriminator();
std::string discriminator_config_text();

} // namespace atelier::gpu
