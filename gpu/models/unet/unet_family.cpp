// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/files/tensor_table.hpp>
#include <atelier/gpu/models/unet/detail/inferred_unet.hpp>
#include <atelier/gpu/models/unet/detail/single_file.hpp>
#include <atelier/gpu/models/unet/detail/unet_inputs.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace atelier::gpu {

namespace {

using std::string_view;

constexpr std::array diffusion_classes{
  string_view{"StableDiffusionPipeline"},
  string_view{"StableDiffusionImg2ImgPipeline"},
  string_view{"StableDiffusionInpaintPipeline"}};
constexpr std::array xl_classes{
  string_view{"StableDiffusionXLPipeline"},
  string_view{"StableDiffusionXLImg2ImgPipeline"},
  string_view{"StableDiffusionXLInpaintPipeline"}};
/// In a folder, the class means SDXL; the missing first text encoder identifies
/// the refiner.
constexpr std::array refiner_classes{
  string_view{"StableDiffusionXLImg2ImgPipeline"}};
constexpr std::array consistency_classes{
  string_view{"LatentConsistencyModelPipeline"},
  string_view{"LatentConsistencyModelImg2ImgPipeline"}};

constexpr std::array xl_settings{zeros_for_empty_setting};
constexpr std::array refiner_settings{zeros_for_empty_setting,
                                      aesthetic_score_setting};

constexpr string_view plain_index =
  R"({"requires_safety_checker": false, "safety_checker": [null, null]})";

constexpr vae_traits xl_vae{
  .sample_size = 1024, .scaling_factor = 0.13025, .force_upcast = true};

constexpr std::array unet_settings{
  model_setting{zeros_for_empty_setting, true},
  model_setting{aesthetic_score_setting, false}};

void add_transformer(detail::tensor_table& to, const std::string& name,
                     int64_t width, int64_t first_context, int64_t context) {
  for (const auto* x : {"norm1", "norm2", "norm3"})
    to.add_norm(fmt::format("{}.{}", name, x), width);
  for (const auto& [attention, seen] :
       {std::pair{name + ".attn1.", first_context},
        std::pair{name + ".attn2.", context}}) {
    to.add(attention + "to_q.weight", {width, width});
    to.add(attention + "to_k.weight", {width, seen});
    to.add(attention + "to_v.weight", {width, seen});
    to.add_linear(attention + "to_out.0", width, width);
  }
  // The gate doubles the inner width.
  to.add_linear(name + ".ff.net.0.proj", width, 8 * width);
  to.add_linear(name + ".ff.net.2", 4 * width, width);
}

void add_attention(detail::tensor_table& to, const std::string& name,
                   const unet_config& config, int64_t width, int64_t blocks,
                   bool only_cross) {
  to.add_norm(name + ".norm", width);
  for (const auto* x : {".proj_in", ".proj_out"})
    if (config.use_linear_projection)
      to.add_linear(name + x, width, width);
    else
      to.add_conv(name + x, width, width, 1);
  const auto context = config.cross_attention_dim;
  for (int64_t i = 0; i < blocks && !to.full(); ++i)
    add_transformer(to, fmt::format("{}.transformer_blocks.{}", name, i), width,
                    only_cross ? context : width, context);
}

void add_resnet(detail::tensor_table& to, const std::string& name,
                const unet_config& config, int64_t from, int64_t width) {
  to.add_resnet(name, from, width);
  to.add_linear(name + ".time_emb_proj", config.time_embedding_dim,
                config.time_scale_shift ? 2 * width : width);
}

void add_layer(detail::tensor_table& to, const std::string& block, size_t i,
               const unet_config& config, const unet_level& level,
               int64_t from) {
  add_resnet(to, fmt::format("{}resnets.{}", block, i), config, from,
             level.channels);
  if (level.layers[i])
    add_attention(to, fmt::format("{}attentions.{}", block, i), config,
                  level.channels, *level.layers[i], level.only_cross_attention);
}

void add_down(detail::tensor_table& to, const unet_config& config) {
  auto width = config.down.front().channels;
  for (size_t i = 0; i < config.down.size(); ++i) {
    const auto& level = config.down[i];
    const auto block = fmt::format("down_blocks.{}.", i);
    for (size_t j = 0; j < level.layers.size() && !to.full(); ++j) {
      add_layer(to, block, j, config, level, width);
      width = level.channels;
    }
    if (i + 1 < config.down.size())
      to.add_conv(block + "downsamplers.0.conv", width, width, 3);
  }
}

void add_middle(detail::tensor_table& to, const unet_config& config) {
  const auto width = config.down.back().channels;
  if (config.middle == unet_middle::none)
    return;
  add_resnet(to, "mid_block.resnets.0", config, width, width);
  if (config.middle != unet_middle::cross_attention)
    return;
  add_resnet(to, "mid_block.resnets.1", config, width, width);
  add_attention(to, "mid_block.attentions.0", config, width,
                config.middle_transformer_blocks, false);
}

void add_up(detail::tensor_table& to, const unet_config& config) {
  auto width = config.up.front().channels;
  for (size_t i = 0; i < config.up.size(); ++i) {
    const auto& level = config.up[i];
    const bool last = i + 1 == config.up.size();
    const auto block = fmt::format("up_blocks.{}.", i);
    for (size_t j = 0; j < level.layers.size() && !to.full(); ++j) {
      // The skip from the same place of the downward path is concatenated.
      const auto beside = j + 1 == level.layers.size()
                          ? config.up[last ? i : i + 1].channels
                          : level.channels;
      add_layer(to, block, j, config, level, width + beside);
      width = level.channels;
    }
    if (!last)
      to.add_conv(block + "upsamplers.0.conv", width, width, 3);
  }
}

void add_embeddings(detail::tensor_table& to, const unet_config& config) {
  const auto first = config.down.front().channels;
  const auto time = config.time_embedding_dim;
  to.add_linear("time_embedding.linear_1", first, time);
  to.add_linear("time_embedding.linear_2", time, time);
  if (config.time_cond_proj_dim)
    to.add("time_embedding.cond_proj.weight",
           {first, *config.time_cond_proj_dim});
  if (config.encoder_hid_dim)
    to.add_linear("encoder_hid_proj", *config.encoder_hid_dim,
                  config.cross_attention_dim);
  if (config.addition == unet_addition::text_time) {
    to.add_linear("add_embedding.linear_1", config.addition_input_dim, time);
    to.add_linear("add_embedding.linear_2", time, time);
  } else if (config.addition == unet_addition::text) {
    const auto width =
      config.encoder_hid_dim.value_or(config.cross_attention_dim);
    to.add_norm("add_embedding.norm1", width);
    to.add("add_embedding.pool.positional_embedding", {1, width});
    for (const auto* x : {"q_proj", "k_proj", "v_proj"})
      to.add_linear(fmt::format("add_embedding.pool.{}", x), width, width);
    to.add_linear("add_embedding.proj", width, time);
    to.add_norm("add_embedding.norm2", time);
  }
}

void expect_unet(const unet_config& config, detail::tensor_table& to) {
  const auto first = config.down.front().channels;
  to.add_conv("conv_in", config.in_channels, first, config.conv_in_kernel);
  add_embeddings(to, config);
  add_down(to, config);
  add_middle(to, config);
  add_up(to, config);
  to.add_norm("conv_norm_out", first);
  to.add_conv("conv_out", first, config.out_channels, config.conv_out_kernel);
}

core::result<void> expect_denoiser(const component& denoiser,
                                   detail::tensor_table& to) {
  const auto config = parse_unet_config(denoiser.config, denoiser.config_file);
  if (!config)
    return config.why();
  expect_unet(*config, to);
  return {};
}

core::result<denoiser_facts> unet_facts(const model_files& model) {
  const auto config =
    parse_unet_config(model.denoiser.config, model.denoiser.config_file);
  if (!config)
    return config.why();
  for (const auto& good :
       {detail::check_channels(*config, model.denoiser.config_file),
        detail::check_texts(*config, model)})
    if (!good)
      return good.why();
  denoiser_facts out;
  out.latent_channels = config->in_channels;
  out.latent_side = config->sample_size.value_or(out.latent_side);
  out.embeds_guidance = config->time_cond_proj_dim.has_value();
  return out;
}

core::result<void> settle_unet(model_files& model) {
  if (model.pipeline != nullptr) {
    const bool names_first =
      std::ranges::find(model.named_parts, "text_encoder")
      != model.named_parts.end();
    if (model.class_name == refiner_classes.front() && !names_first)
      model.pipeline = &stable_diffusion_xl_refiner;
    return {};
  }
  const auto config =
    detail::parse_object(model.denoiser.config, model.denoiser.config_file);
  if (!config)
    return config.why();
  model.pipeline = &detail::pipeline_of_unet(*config);
  if (model.pipeline == &stable_diffusion_xl_refiner) {
    model.settings.insert_or_assign(std::string{aesthetic_score_setting}, true);
    model.settings.insert_or_assign(std::string{zeros_for_empty_setting},
                                    false);
  }
  return {};
}

} // namespace

constexpr model_pipeline stable_diffusion{.name = "stable_diffusion",
                                          .classes = diffusion_classes,
                                          .written_index = plain_index};

constexpr model_pipeline stable_diffusion_xl{.name = "stable_diffusion_xl",
                                             .classes = xl_classes,
                                             .text_encoder = false,
                                             .text_encoder_2 = true,
                                             .writes_missing_text = true,
                                             .written_settings = xl_settings,
                                             .guidance = 5,
                                             .upcasts_vae = true,
                                             .single_file_vae = xl_vae};

constexpr model_pipeline stable_diffusion_xl_refiner{
  .name = "stable_diffusion_xl_refiner",
  .classes = refiner_classes,
  .text_encoder = false,
  .text_encoder_2 = true,
  .writes_missing_text = true,
  .written_settings = refiner_settings,
  .guidance = 5,
  .upcasts_vae = true,
  .single_file_vae = xl_vae};

constexpr model_pipeline latent_consistency{.name = "latent_consistency",
                                            .classes = consistency_classes,
                                            .written_index = plain_index,
                                            .guidance = 8.5f,
                                            .steps = 4,
                                            .lcm_steps =
                                              core::share_steps::spread,
                                            .teacher = &stable_diffusion};

namespace {

constexpr std::array unet_pipelines{&stable_diffusion, &stable_diffusion_xl,
                                    &stable_diffusion_xl_refiner,
                                    &latent_consistency};

} // namespace

constexpr family unet_family{.name = "unet",
                             .pipelines = unet_pipelines,
                             .denoiser_part = "unet",
                             .denoiser_class = "UNet2DConditionModel",
                             .settings = unet_settings,
                             .expect = expect_denoiser,
                             .facts = unet_facts,
                             .settle = settle_unet,
                             .knows_file = detail::is_single_unet,
                             .open_file = detail::open_single_file};

bool has_size_vectors(const model_pipeline& x) {
  return &x == &stable_diffusion_xl || &x == &stable_diffusion_xl_refiner;
}

} // namespace atelier::gpu
