// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace atelier::gpu {

namespace detail {
struct tensor_table;
} // namespace detail

/// The network behind the autoencoder's interface.
enum class autoencoder_kind : uint8_t {
  /// AutoencoderKL, as in Stable Diffusion.
  kl,
  /// AutoencoderTiny, a small one for previews.
  tiny,
};

/// Non-linearity between the layers.
enum class autoencoder_activation : uint8_t { silu, relu, gelu, mish };

/// Shape of an autoencoder, and the scale of its latents.
struct autoencoder_config {
  autoencoder_kind kind = autoencoder_kind::kl;
  int64_t latent_channels = 4;
  autoencoder_activation activation = autoencoder_activation::silu;

  /// Latents are `(drawn - shift_factor) * scaling_factor`, or, if
  /// `latents_mean` is not empty, `(drawn - mean) * scaling_factor / std`.
  double scaling_factor = 0.18215;
  double shift_factor = 0.0;
  /// Both empty, or one value for each latent channel.
  std::vector<double> latents_mean;
  std::vector<double> latents_std;

  /// Whether to compute in float32 if float16 is requested. Nothing: the file
  /// does not say so, and the model's pipeline decides.
  std::optional<bool> force_upcast;

  /// AutoencoderKL: one value for each resolution, finest first.
  std::vector<int64_t> block_out_channels = {64};
  int64_t layers_per_block = 1;
  int64_t norm_num_groups = 32;
  /// Pixels of an image's side that one tile covers.
  int64_t sample_size = 32;
  bool use_quant_conv = true;
  bool use_post_quant_conv = true;
  bool mid_block_add_attention = true;

  /// AutoencoderTiny: width, and residual blocks of each resolution in the
  /// order of computation.
  int64_t encoder_channels = 64;
  int64_t decoder_channels = 64;
  std::vector<int64_t> num_encoder_blocks = {1, 3, 3, 3};
  std::vector<int64_t> num_decoder_blocks = {3, 3, 3, 1};

  /// Returns the pixels of an image's side per element of a latent's side.
  uint32_t factor() const;
};

/// Reads the configuration of AutoencoderKL or AutoencoderTiny as diffusers
/// writes it; missing keys have diffusers' defaults.
/// Errors: ec::bad_config; the text names the file, the key and its value.
/// Threads: any.
/// Source: diffusers, models/autoencoders/autoencoder_kl.py and
///         autoencoder_tiny.py.
core::result<autoencoder_config> read_autoencoder_config(const component& from);

/// What the shapes of an AutoencoderKL do not say.
struct vae_traits {
  /// A side of the image.
  uint64_t sample_size = 512;
  double scaling_factor = 0.18215;
  /// Written only if true.
  bool force_upcast = false;
};

/// Adds the tensors of an autoencoder of that shape.
/// Source: diffusers 0.42, models/autoencoders/autoencoder_kl.py, vae.py and
///         autoencoder_tiny.py.
void expect_autoencoder(const autoencoder_config& config,
                        detail::tensor_table& to);

} // namespace atelier::gpu
