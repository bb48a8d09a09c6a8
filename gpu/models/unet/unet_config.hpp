// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// The blocks between the downward and the upward path of a denoiser.
enum class unet_middle : uint8_t {
  none,
  /// UNetMidBlock2D: one residual block.
  resnet,
  /// UNetMidBlock2DCrossAttn: residual, attention, residual.
  cross_attention,
};

/// The vector added to the embedding of the timestep.
enum class unet_addition : uint8_t {
  none,
  /// Pooled from the context by attention.
  text,
  /// Computed from pooled text and micro-conditioning (SDXL).
  text_time,
};

/// One resolution of a denoiser, on the downward or the upward path.
struct unet_level {
  int64_t channels = 0;
  /// For each layer, the number of transformer blocks after its residual block;
  /// empty if the level has no attention.
  std::vector<std::optional<int64_t>> layers;
  int64_t heads = 1;
  /// Whether its first attention also attends to the context.
  bool only_cross_attention = false;
};

/// The validated config.json of diffusers' UNet2DConditionModel, with its
/// quirks resolved.
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

  /// The downward path; the upward path has its own levels, in the order in
  /// which they run.
  std::vector<unet_level> down;
  std::vector<unet_level> up;
  unet_middle middle = unet_middle::cross_attention;
  int64_t middle_transformer_blocks = 1;
  int64_t middle_heads = 8;
  double middle_scale = 1;
  int64_t downsample_padding = 1;

  int64_t norm_groups = 32;
  double norm_eps = 1e-5;
  /// Whether residual blocks scale and shift by the timestep instead of adding
  /// it.
  bool time_scale_shift = false;

  int64_t cross_attention_dim = 1280;
  bool use_linear_projection = false;
  /// Width of the text encoder's output, if it is projected first.
  std::optional<int64_t> encoder_hid_dim;

  unet_addition addition = unet_addition::none;
  /// Used with unet_addition::text.
  int64_t addition_heads = 64;
  /// Used with unet_addition::text_time: the width of each embedded number, and
  /// of all of them together with the pooled text.
  int64_t addition_time_dim = 0;
  int64_t addition_input_dim = 0;
};

/// Parses the text of a config.json; `file` is its location.
/// Errors: ec::bad_config: a key that requires other fields than those above,
///         an unknown key, a value out of range; the text names the file, the
///         key and the value.
/// Source:  diffusers, models/unets/unet_2d_condition.py,
///          UNet2DConditionModel.__init__. Its `attention_head_dim` is the
///          number of heads, as there. `upcast_attention` is accepted and has
///          no effect, as there: scores are accumulated in float32 anyway.
core::result<unet_config> parse_unet_config(std::string_view text,
                                            const std::string& file);

} // namespace atelier::gpu
