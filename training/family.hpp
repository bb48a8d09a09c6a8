// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/model_traits.hpp>
#include <atelier/gpu/models/judge/judge_config.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::gpu {

/// The denoisers of the shipped family.
enum class family_member : uint8_t {
  base,
  small,
  tiny,
  /// The shape of base, trained for few steps.
  turbo,
};

std::string_view to_string(family_member x);
std::optional<family_member> family_member_named(std::string_view name);

/// Returns the member's preferred settings. Above guidance 3 edges become
/// angular and backgrounds blotched; with turbo, any guidance has that effect.
model_traits family_traits(family_member x);

/// These functions return the text of each network's config.json, as diffusers
/// and transformers read it, and the configuration that this library reads from
/// it.
std::string unet_config_text(family_member x);
unet_config family_unet(family_member x);

/// The latents of this autoencoder have mean 0 and deviation 1 by its own
/// weights, so its scaling factor is 1.
std::string autoencoder_config_text();
autoencoder_config family_autoencoder();

/// AutoencoderTiny, for previews: it decodes the other autoencoder's latents.
std::string tiny_autoencoder_config_text();
autoencoder_config family_tiny_autoencoder();

/// Returns the configuration that transformers' CLIPImageProcessor reads.
std::string scorer_processor_text();

/// Returns scheduler_config.json: DDIM on the noise levels that training uses,
/// with v-prediction and a last level of pure noise.
std::string scheduler_config_text();

} // namespace atelier::gpu
