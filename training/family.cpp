// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/training/family.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace atelier::gpu {

namespace {

using json = nlohmann::ordered_json;

constexpr std::array<std::pair<family_member, std::string_view>, 4> members{{
  {family_member::base, "base"},
  {family_member::small, "small"},
  {family_member::tiny, "tiny"},
  {family_member::turbo, "turbo"},
}};

json channels_of(family_member x) {
  switch (x) {
    case family_member::base:
    case family_member::turbo:
      return {48, 96, 160};
    case family_member::small:
      return {32, 48, 80};
    case family_member::tiny:
      return {16, 32, 64};
  }
  return {};
}

std::string text_of(const json& x) {
  return x.dump(2) + "\n";
}

json repeated(const char* what, size_t count) {
  return std::vector<std::string>(count, what);
}

component config_alone(std::string text, const char* class_name) {
  component out;
  out.config = std::move(text);
  out.config_file = "config.json";
  out.class_name = class_name;
  return out;
}

} // namespace

std::string_view to_string(family_member x) {
  for (const auto& [member, name] : members)
    if (member == x)
      return name;
  return {};
}

std::optional<family_member> family_member_named(std::string_view name) {
  for (const auto& [member, known] : members)
    if (known == name)
      return member;
  return std::nullopt;
}

model_traits family_traits(family_member x) {
  return {.native_only = true,
          .captions = caption_kind::scenes,
          .most_guidance = x == family_member::turbo ? 1.0f : 3.0f};
}

std::string unet_config_text(family_member x) {
  return text_of({
    {"_class_name", "UNet2DConditionModel"},
    {"sample_size", family_latent_side},
    {"in_channels", 4},
    {"out_channels", 4},
    {"block_out_channels", channels_of(x)},
    {"layers_per_block", 1},
    {"norm_num_groups", 8},
    {"down_block_types",
     {"DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"}},
    {"mid_block_type", "UNetMidBlock2DCrossAttn"},
    {"up_block_types",
     {"CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"}},
    // Despite its name, this is the number of heads.
    {"attention_head_dim", 4},
    {"use_linear_projection", true},
    {"cross_attention_dim", family_text_width},
    {"addition_embed_type", "text"},
    {"addition_embed_type_num_heads", 4},
  });
}

unet_config family_unet(family_member x) {
  return *parse_unet_config(unet_config_text(x), "config.json");
}

std::string autoencoder_config_text() {
  constexpr size_t levels = 4;
  return text_of({
    {"_class_name", "AutoencoderKL"},
    {"in_channels", 3},
    {"out_channels", 3},
    {"latent_channels", 4},
    {"block_out_channels", {16, 32, 64, 128}},
    {"layers_per_block", 1},
    {"norm_num_groups", 2},
    {"down_block_types", repeated("DownEncoderBlock2D", levels)},
    {"up_block_types", repeated("UpDecoderBlock2D", levels)},
    {"act_fn", "silu"},
    {"mid_block_add_attention", false},
    {"sample_size", family_side},
    {"scaling_factor", 1.0},
    {"force_upcast", false},
  });
}

autoencoder_config family_autoencoder() {
  return *read_autoencoder_config(
    config_alone(autoencoder_config_text(), "AutoencoderKL"));
}

std::string tiny_autoencoder_config_text() {
  constexpr size_t levels = 4;
  // The last layers run on images of full size: 32 channels would cost four
  // times as much.
  const json widths = std::vector<int64_t>(levels, 16);
  return text_of({
    {"_class_name", "AutoencoderTiny"},
    {"in_channels", 3},
    {"out_channels", 3},
    {"latent_channels", 4},
    {"encoder_block_out_channels", widths},
    {"decoder_block_out_channels", widths},
    {"num_encoder_blocks", {1, 1, 1, 1}},
    {"num_decoder_blocks", {1, 1, 1, 1}},
    {"act_fn", "relu"},
    {"scaling_factor", 1.0},
    {"shift_factor", 0.0},
    {"force_upcast", false},
  });
}

autoencoder_config family_tiny_autoencoder() {
  return *read_autoencoder_config(
    config_alone(tiny_autoencoder_config_text(), "AutoencoderTiny"));
}

std::string scorer_processor_text() {
  const json half = std::vector<double>(3, 0.5);
  return text_of({
    {"image_processor_type", "CLIPImageProcessor"},
    {"do_convert_rgb", true},
    {"do_resize", true},
    {"size", {{"height", family_side}, {"width", family_side}}},
    {"do_center_crop", false},
    {"do_rescale", true},
    {"rescale_factor", 1.0 / 255},
    {"do_normalize", true},
    {"image_mean", half},
    {"image_std", half},
  });
}

std::string scheduler_config_text() {
  return text_of({
    {"_class_name", "DDIMScheduler"},
    {"num_train_timesteps", 1000},
    {"beta_schedule", "scaled_linear"},
    {"beta_start", 0.00085},
    {"beta_end", 0.012},
    {"prediction_type", "v_prediction"},
    {"rescale_betas_zero_snr", true},
    {"timestep_spacing", "trailing"},
    {"clip_sample", false},
    {"set_alpha_to_one", true},
    {"steps_offset", 1},
  });
}

} // namespace atelier::gpu
