// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// What stands between the way down and the way up of a denoiser.
enum class unet_middle : uint8_t {
  none,
  /// UNetMidBlock2D: one residual block.
  resnet,
  /// UNetMidBlock2DCrossAttn: residual, attention, residual.
  cross_attention,
};

/// What is added to the embedding of the timestep.
enum class unet_addition : uint8_t {
  none,
  /// Pooled from the context by attention.
  text,
  /// From pooled text and micro-conditioning (SDXL).
  text_time,
};

/// One resolution of a denoiser, on the way down or up.
struct unet_level {
  int64_t channels = 0;
  /// For each layer, how many transformer blocks follow its residual block;
  /// none at all where the level has no attention.
  std::vector<std::optional<int64_t>> layers;
  int64_t heads = 1;
  /// Its first attention looks at the context, too.
  bool only_cross_attention = false;
};

/// config.json of diffusers' UNet2DConditionModel, checked and with its quirks
/// resolved.
struct unet_config {
  int64_t in_channels = 4;
  int64_t out_channels = 4;
  /// Side of the latent that the model was trained for.
  std::optional<int64_t> sample_size;
  bool center_input_sample = false;
  int64_t conv_in_kernel = 3;
  int64_t conv_out_kernel = 3;

  /// Frequencies of the timestep's embedding: cosines first.
  bool flip_sin_to_cos = true;
  double freq_shift = 0;
  int64_t time_embedding_dim = 1280;
  /// Length of the guidance embedding, for models distilled with guidance.
  std::optional<int64_t> time_cond_proj_dim;

  /// Downwards; the way up has its own, in the order in which it is walked.
  std::vector<unet_level> down;
  std::vector<unet_level> up;
  unet_middle middle = unet_middle::cross_attention;
  int64_t middle_transformer_blocks = 1;
  int64_t middle_heads = 8;
  double middle_scale = 1;
  int64_t downsample_padding = 1;

  int64_t norm_groups = 32;
  double norm_eps = 1e-5;
  /// Residual blocks scale and shift by the timestep, instead of adding it.
  bool time_scale_shift = false;

  int64_t cross_attention_dim = 1280;
  bool use_linear_projection = false;
  /// Width of the text encoder's output, where a projection precedes.
  std::optional<int64_t> encoder_hid_dim;

  unet_addition addition = unet_addition::none;
  /// With unet_addition::text.
  int64_t addition_heads = 64;
  /// With unet_addition::text_time: the width of each embedded number, and of
  /// all together with the pooled text.
  int64_t addition_time_dim = 0;
  int64_t addition_input_dim = 0;
};

/// Reads the text of a config.json; `file` says where it stands.
/// Errors: ec::bad_config: a key that asks for something else than the fields
///         above, an unknown key, a value outside its range; the text names the
///         file, the key and the value.
/// Source:  diffusers, models/unets/unet_2d_condition.py,
///          UNet2DConditionModel.__init__. Its `attention_head_dim` is the
///          number of heads, as there. `upcast_attention` is accepted and has
///          no effect, as there: scores are accumulated in float32 anyway.
core::result<unet_config> parse_unet_config(std::string_view text,
                                            const std::string& file);

} // namespace atelier::gpu
