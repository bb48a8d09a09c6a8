// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/inferred_config.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/unet/detail/expected_unet.hpp>
#include <atelier/gpu/models/unet/detail/single_file.hpp>
#include <atelier/gpu/models/unet/detail/unet_inputs.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>

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

constexpr std::array unet_settings{
  model_setting{zeros_for_empty_setting, true},
  model_setting{aesthetic_score_setting, false}};

core::result<void> expect_denoiser(const component& denoiser,
                                   detail::tensor_table& to) {
  const auto config = parse_unet_config(denoiser.config, denoiser.config_file);
  if (!config)
    return config.why();
  detail::expect_unet(*config, to);
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
                                             .upcasts_vae = true};

constexpr model_pipeline stable_diffusion_xl_refiner{
  .name = "stable_diffusion_xl_refiner",
  .classes = refiner_classes,
  .text_encoder = false,
  .text_encoder_2 = true,
  .writes_missing_text = true,
  .written_settings = refiner_settings,
  .guidance = 5,
  .upcasts_vae = true};

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
