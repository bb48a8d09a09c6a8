// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/files/tensor_table.hpp>
#include <atelier/gpu/models/mmdit/mmdit_config.hpp>
#include <atelier/gpu/models/mmdit/mmdit_family.hpp>

#include <fmt/format.h>

#include <array>

namespace atelier::gpu {

namespace {

using std::string_view;

constexpr std::array joint_classes{
  string_view{"StableDiffusion3Pipeline"},
  string_view{"StableDiffusion3Img2ImgPipeline"},
  string_view{"StableDiffusion3InpaintPipeline"}};

constexpr string_view joint_index =
  R"({"text_encoder_3": [null, null], "tokenizer_3": [null, null]})";

/// Width of the embedded timestep.
constexpr int64_t timestep_width = 256;

core::result<void> expect_joint(const component& denoiser,
                                detail::tensor_table& to) {
  const auto read = parse_mmdit_config(denoiser.config, denoiser.config_file);
  if (!read)
    return read.why();
  const auto& x = *read;
  const auto width = x.width();
  to.add_conv("pos_embed.proj", x.channels, width, x.patch_size);
  to.add("pos_embed.pos_embed", {1, x.most_side * x.most_side, width});
  const auto add_embedding = [&](const std::string& name, int64_t from) {
    to.add_linear(name + ".linear_1", from, width);
    to.add_linear(name + ".linear_2", width, width);
  };
  add_embedding("time_text_embed.timestep_embedder", timestep_width);
  add_embedding("time_text_embed.text_embedder", x.pooled_width);
  to.add_linear("context_embedder", x.text_width, width);
  for (int64_t i = 0; i < x.layers && !to.full(); ++i) {
    const auto block = fmt::format("transformer_blocks.{}.", i);
    const bool last = i + 1 == x.layers;
    to.add_linear(block + "norm1.linear", width, 6 * width);
    to.add_linear(block + "norm1_context.linear", width,
                  (last ? 2 : 6) * width);
    for (const auto* part : {"to_q", "to_k", "to_v", "add_q_proj", "add_k_proj",
                             "add_v_proj", "to_out.0"})
      to.add_linear(fmt::format("{}attn.{}", block, part), width, width);
    if (!last)
      to.add_linear(block + "attn.to_add_out", width, width);
    for (const auto* part : {"ff", "ff_context"}) {
      if (last && part != string_view{"ff"})
        continue;
      to.add_linear(fmt::format("{}{}.net.0.proj", block, part), width,
                    4 * width);
      to.add_linear(fmt::format("{}{}.net.2", block, part), 4 * width, width);
    }
  }
  to.add_linear("norm_out.linear", width, 2 * width);
  to.add_linear("proj_out", width, x.patch_size * x.patch_size * x.channels);
  return {};
}

/// Checks that the denoiser has room for both texts, which are concatenated.
core::result<void> check_texts(const model_files& model,
                               const mmdit_config& denoiser) {
  if (!model.text_encoder || !model.text_encoder_2)
    return {};
  int64_t width = 0;
  int64_t pooled = 0;
  for (const auto* part : {&*model.text_encoder, &*model.text_encoder_2}) {
    const auto config = read_clip_text_config(*part);
    if (!config)
      return config.why();
    if (config->projection_dim == 0)
      return core::fail(core::ec::bad_config,
                        "{}: class {}, not CLIPTextModelWithProjection",
                        part->config_file, part->class_name);
    width += config->hidden_size;
    pooled += config->projection_dim;
  }
  if (width > denoiser.text_width)
    return core::fail(core::ec::bad_config,
                      "{}: joint_attention_dim {}, but the text encoders' "
                      "tokens have {} numbers together",
                      model.denoiser.config_file, denoiser.text_width, width);
  if (pooled != denoiser.pooled_width)
    return core::fail(core::ec::bad_config,
                      "{}: pooled_projection_dim {}, but the text encoders' "
                      "projection_dim are {} together",
                      model.denoiser.config_file, denoiser.pooled_width,
                      pooled);
  return {};
}

core::result<denoiser_facts> joint_facts(const model_files& model) {
  const auto config =
    parse_mmdit_config(model.denoiser.config, model.denoiser.config_file);
  if (!config)
    return config.why();
  if (auto good = check_texts(model, *config); !good)
    return good.why();
  return denoiser_facts{config->sample_size, config->channels};
}

} // namespace

constexpr model_pipeline stable_diffusion_3{.name = "stable_diffusion_3",
                                            .classes = joint_classes,
                                            .text_encoder_2 = true,
                                            .written_index = joint_index,
                                            .guidance = 7,
                                            .steps = 28};

namespace {

constexpr std::array joint_pipelines{&stable_diffusion_3};

} // namespace

constexpr family mmdit_family{.name = "mmdit",
                              .pipelines = joint_pipelines,
                              .denoiser_part = "transformer",
                              .denoiser_class = "SD3Transformer2DModel",
                              .settings = {},
                              .expect = expect_joint,
                              .facts = joint_facts};

} // namespace atelier::gpu
