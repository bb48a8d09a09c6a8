// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/unet/detail/unet_inputs.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>

#include <algorithm>
#include <optional>

namespace atelier::gpu::detail {

namespace {

/// Numbers of SDXL's micro-conditioning, and of its refiner's.
constexpr int64_t size_numbers = 6;
constexpr int64_t score_numbers = 5;

/// Returns what diffusers' models with more channels than a latent are for.
std::string_view purpose(int64_t in, int64_t out) {
  if (out == 4 && in == 5)
    return "models that also take a depth map";
  if (out == 4 && in == 7)
    return "models that enlarge an image";
  if (out == 4 && in == 8)
    return "models that edit an image by an instruction";
  if (in == 2 * out + 1)
    return "inpainting models";
  return "models that take more than a latent";
}

/// Returns whether any layer reads the text.
bool reads_text(const unet_config& x) {
  const auto attends = [](const unet_level& level) {
    return std::ranges::any_of(
      level.layers, [](const auto& blocks) { return blocks.has_value(); });
  };
  return x.middle == unet_middle::cross_attention || x.encoder_hid_dim
      || x.addition == unet_addition::text
      || std::ranges::any_of(x.down, attends)
      || std::ranges::any_of(x.up, attends);
}

struct text_widths {
  /// Numbers of a token, of all encoders together.
  int64_t tokens = 0;
  /// Numbers of the second encoder's pooled text; 0: it is absent.
  int64_t pooled = 0;
};

/// Returns nothing if the encoders are not in the model.
core::result<std::optional<text_widths>> widths_of(const model_files& model) {
  const auto& needs = *model.pipeline;
  if ((needs.text_encoder && !model.text_encoder)
      || (needs.text_encoder_2 && !model.text_encoder_2)
      || (!model.text_encoder && !model.text_encoder_2))
    return std::optional<text_widths>{};
  text_widths out;
  if (model.text_encoder) {
    const auto first = read_clip_text_config(*model.text_encoder);
    if (!first)
      return first.why();
    out.tokens = first->hidden_size;
  }
  if (has_size_vectors(needs) && model.text_encoder_2) {
    const auto second = read_clip_text_config(*model.text_encoder_2);
    if (!second)
      return second.why();
    out.tokens += second->hidden_size;
    out.pooled =
      second->projection_dim > 0 ? second->projection_dim : second->hidden_size;
  }
  return std::optional{out};
}

} // namespace

core::result<void> check_channels(const unet_config& denoiser,
                                  const std::string& file) {
  if (denoiser.in_channels == denoiser.out_channels)
    return {};
  if (denoiser.in_channels > denoiser.out_channels)
    return core::fail(core::ec::bad_config,
                      "{}: in_channels {}: {} are not supported; expected {}, "
                      "as out_channels",
                      file, denoiser.in_channels,
                      purpose(denoiser.in_channels, denoiser.out_channels),
                      denoiser.out_channels);
  return core::fail(core::ec::bad_config,
                    "{}: out_channels {}: expected {}, as in_channels", file,
                    denoiser.out_channels, denoiser.in_channels);
}

core::result<void> check_texts(const unet_config& denoiser,
                               const model_files& model) {
  const auto& file = model.denoiser.config_file;
  const bool takes_sizes = denoiser.addition == unet_addition::text_time;
  if (takes_sizes && !has_size_vectors(*model.pipeline))
    return core::fail(core::ec::bad_config,
                      "{}: addition_embed_type text_time, but a model of kind "
                      "{} has no pooled text and no sizes",
                      file, model.pipeline->name);
  const auto widths = widths_of(model);
  if (!widths)
    return widths.why();
  if (!*widths)
    return {};
  const auto& text = **widths;
  const auto taken =
    denoiser.encoder_hid_dim.value_or(denoiser.cross_attention_dim);
  if (reads_text(denoiser) && text.tokens != taken)
    return core::fail(core::ec::bad_config,
                      "{}: {} {}, but a token of the text encoder has {} "
                      "numbers",
                      file,
                      denoiser.encoder_hid_dim ? "encoder_hid_dim"
                                               : "cross_attention_dim",
                      taken, text.tokens);
  if (!takes_sizes)
    return {};
  const auto numbers =
    setting_of(model, aesthetic_score_setting) ? score_numbers : size_numbers;
  const auto all = text.pooled + numbers * denoiser.addition_time_dim;
  if (all != denoiser.addition_input_dim)
    return core::fail(
      core::ec::bad_config,
      "{}: projection_class_embeddings_input_dim {}: expected {}, the {} "
      "numbers of the pooled text and {} of addition_time_embed_dim {}",
      file, denoiser.addition_input_dim, all, text.pooled, numbers,
      denoiser.addition_time_dim);
  return {};
}

} // namespace atelier::gpu::detail
