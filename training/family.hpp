// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/autoencoder_config.hpp>
#include <atelier/gpu/models/clip_text_config.hpp>
#include <atelier/gpu/models/model_traits.hpp>
#include <atelier/gpu/models/unet_config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// The denoisers of the shipped family.
enum class family_member : uint8_t {
  base,
  small,
  tiny,
  /// Shaped as base, for few steps.
  turbo,
};

std::string_view to_string(family_member x);
std::optional<family_member> family_member_named(std::string_view name);

/// Pixels of a side of the family's pictures, and elements of a side of their
/// latents.
inline constexpr int64_t family_side = 128;
inline constexpr int64_t family_latent_side = 16;
/// Tokens of a text, start and end included. Of a million captions of three
/// objects about two say more than fits, and lose their last word.
inline constexpr uint32_t family_tokens = 48;
/// Width of the text encoder, hence of what the denoisers look at.
inline constexpr int64_t family_text_width = 128;

/// How it wants to be used: beyond guidance 3 edges get angular and backgrounds
/// blotched; of turbo any guidance does that.
model_traits family_traits(family_member x);

/// The text of each network's config.json, as diffusers and transformers read
/// it, and what this library reads from it.
std::string unet_config_text(family_member x);
unet_config family_unet(family_member x);

std::string text_encoder_config_text();
clip_text_config family_text_encoder();

/// Latents of this autoencoder have mean 0 and deviation 1 by its own weights:
/// its scaling factor is 1.
std::string autoencoder_config_text();
autoencoder_config family_autoencoder();

/// AutoencoderTiny, for previews: decodes the latents of the other one.
std::string tiny_autoencoder_config_text();
autoencoder_config family_tiny_autoencoder();

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

/// As transformers' CLIPModel and CLIPImageProcessor read them.
std::string scorer_config_text();
std::string scorer_processor_text();
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

/// Tells from a prompt alone how good each way to draw it will be.
struct prompt_classifier_config {
  clip_text_config text;
  /// Ways to draw, see level_ladder.
  int64_t levels = 5;
};

/// With the family's text encoder. `levels`: their names, the best first.
prompt_classifier_config family_prompt_classifier();
std::string prompt_classifier_config_text(
  const std::vector<std::string>& levels);

/// scheduler_config.json: DDIM on the noise levels that training uses, with
/// v-prediction and a last level of pure noise.
std::string scheduler_config_text();

} // namespace atelier::gpu
