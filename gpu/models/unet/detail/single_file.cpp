// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/text_file.hpp>
#include <atelier/gpu/models/files/inferred_part.hpp>
#include <atelier/gpu/models/files/part_folder.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/files/tensor_collection.hpp>
#include <atelier/gpu/models/unet/detail/inferred_unet.hpp>
#include <atelier/gpu/models/unet/detail/prediction_type.hpp>
#include <atelier/gpu/models/unet/detail/single_file.hpp>
#include <atelier/gpu/models/unet/detail/unet_names.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>
#include <atelier/gpu/models/vae/vae_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace atelier::gpu::detail {

namespace {

namespace fs = std::filesystem;
using core::ec;
using file_ptr = std::shared_ptr<const safetensors_file>;
using names_list = std::vector<std::string>;

constexpr std::string_view unet_prefix = "model.diffusion_model.";

// SD 2.x uses the output before the last of 24 layers, so that the last one is
// not needed.
constexpr size_t unused_layer = 23;

/// The tensor names that identify other kinds of file.
struct other_kind {
  std::string_view mark;
  std::string_view description;
};

constexpr std::array other_kinds = {
  other_kind{"lora_unet_", "a LoRA"},
  other_kind{"lora_te", "a LoRA"},
  other_kind{"unet.down_blocks.", "a LoRA"},
  other_kind{"control_model.", "a ControlNet"},
  other_kind{"controlnet_", "a ControlNet"},
  other_kind{"emb_params", "a textual inversion"},
  other_kind{"clip_l", "a textual inversion"},
  other_kind{"double_blocks.", "a Flux model"},
  other_kind{"model.diffusion_model.double_blocks.", "a Flux model"},
  other_kind{"joint_blocks.", "an SD 3 model"},
  other_kind{"model.diffusion_model.joint_blocks.", "an SD 3 model"},
  other_kind{"first_stage_model.", "an autoencoder"},
  other_kind{"encoder.down", "an autoencoder"},
  other_kind{"decoder.up", "an autoencoder"},
  other_kind{"text_model.", "a text encoder"},
};

/// A checkpoint's layout of text encoders.
struct text_layout {
  std::string_view prefix;
  text_family family;
  /// The second encoder of SDXL.
  bool second;
};

constexpr text_layout sd1_text{"cond_stage_model.transformer.",
                               text_family::clip, false};
constexpr text_layout sd2_text{"cond_stage_model.model.",
                               text_family::open_clip, false};
constexpr text_layout xl_text{"conditioner.embedders.0.transformer.",
                              text_family::clip, false};
constexpr text_layout xl_text_2{"conditioner.embedders.1.model.",
                                text_family::open_clip, true};
constexpr text_layout refiner_text{"conditioner.embedders.0.model.",
                                   text_family::open_clip, true};
constexpr std::array text_layouts = {sd1_text, sd2_text, xl_text, xl_text_2,
                                     refiner_text};

tokenizer_files with_padding(tokenizer_files x, std::string_view padding) {
  const json_object tokens{{"bos_token", "<|startoftext|>"},
                           {"eos_token", "<|endoftext|>"},
                           {"pad_token", padding},
                           {"unk_token", "<|endoftext|>"}};
  json_object config{{"tokenizer_class", "CLIPTokenizer"},
                     {"add_prefix_space", false},
                     {"do_lower_case", true},
                     {"errors", "replace"},
                     {"model_max_length", 77}};
  config.update(tokens);
  x.config = config.dump(2);
  x.special_tokens = tokens.dump(2);
  return x;
}

/// Opens one checkpoint, part by part.
class checkpoint {
public:
  checkpoint(file_ptr file, const fs::path& path,
             const model_file_options& options)
    : file_(std::move(file)),
      path_(path),
      options_(options),
      names_(file_->names()) {
    out_.from = path;
  }

  core::result<model_files> open() {
    if (auto ok = open_unet(); !ok)
      return ok.why();
    if (auto ok = find_kind(); !ok)
      return ok.why();
    if (auto ok = finish_unet(); !ok)
      return ok.why();
    if (auto ok = open_vae(); !ok)
      return ok.why();
    for (const auto& layout : text_layouts)
      if (auto ok = open_text(layout); !ok)
        return ok.why();
    if (auto ok = open_tokenizers(); !ok)
      return ok.why();
    note_the_rest();
    return std::move(out_);
  }

private:
  core::result<void> open_unet() {
    if (has_prefix(names_, "edm_mean"))
      return bad_file(path_,
                      "tensor edm_mean: Playground's noise schedule is not "
                      "supported");
    if (has_prefix(names_, "edm_vpred."))
      return bad_file(path_,
                      "tensor edm_vpred.sigma_max: CosXL's noise schedule is "
                      "not supported");
    if (has_prefix(names_, "down_blocks.") && has_prefix(names_, "conv_in.")) {
      unet_ = file_;
      unet_alone_ = true;
      return {};
    }
    const bool whole =
      has_prefix(names_, fmt::format("{}input_blocks.", unet_prefix));
    if (!whole && !has_prefix(names_, "input_blocks."))
      return refuse_other();
    unet_alone_ = !whole;
    names_list left_over;
    unet_ = name_original_unet(file_, whole ? unet_prefix : std::string_view{},
                               left_over);
    std::erase_if(left_over, marks_prediction);
    return expect_none(path_, "denoiser", left_over);
  }

  core::result<void> refuse_other() const {
    for (const auto& x : other_kinds)
      if (has_prefix(names_, x.mark))
        return bad_file(path_,
                        fmt::format("it holds no denoiser (no tensor {}..., "
                                    "input_blocks... or down_blocks...): it "
                                    "looks like {}",
                                    unet_prefix, x.description));
    return bad_file(path_, fmt::format("it holds no denoiser: no tensor {}..., "
                                       "input_blocks... or down_blocks...",
                                       unet_prefix));
  }

  bool has_text(const text_layout& x) const {
    return !unet_alone_ && has_prefix(names_, x.prefix);
  }

  core::result<void> find_kind() {
    // Without text encoders, a denoiser is identified only by its shapes.
    const auto config = infer_unet_config(*unet_, {});
    if (!config)
      return config.why();
    const auto& told = pipeline_of_unet(nlohmann::json(*config));
    out_.pipeline = &told;
    sd2_ = has_text(sd2_text);
    if (!has_any_text())
      sd2_ = config->value("cross_attention_dim", 0) == 1024;
    if (has_text(xl_text_2))
      out_.pipeline = &stable_diffusion_xl;
    else if (has_text(refiner_text))
      out_.pipeline = &stable_diffusion_xl_refiner;
    const bool embeds = config->contains("addition_embed_type");
    if (embeds != (is_xl() || is_refiner()) || (embeds && sd2_))
      return bad_file(path_,
                      "tensor label_emb.0.0.weight: class_embed_type "
                      "projection, or SDXL without it, is not supported");
    if (is_refiner()) {
      out_.settings.emplace(aesthetic_score_setting, true);
      out_.settings.emplace(zeros_for_empty_setting, false);
    }
    may_be_v_ = sd2_ && (*config)["in_channels"] == 4;
    return {};
  }

  bool is_xl() const {
    return out_.pipeline == &stable_diffusion_xl;
  }

  bool is_refiner() const {
    return out_.pipeline == &stable_diffusion_xl_refiner;
  }

  bool has_any_text() const {
    return std::any_of(text_layouts.begin(), text_layouts.end(),
                       [&](const text_layout& x) { return has_text(x); });
  }

  /// Writes the denoiser's configuration and the noise schedule, which depend
  /// on the kind.
  core::result<void> finish_unet() {
    auto prediction =
      find_prediction_type(*file_, options_.prediction_type, may_be_v_);
    if (!prediction)
      return prediction.why();
    image_size_ = is_xl() || is_refiner()                         ? 1024
                : may_be_v_ && prediction->type == "v_prediction" ? 768
                                                                  : 512;
    const auto levels = count_numbered(
      names_, fmt::format("{}decoder.up.", vae_prefix(names_).value_or("?")));
    const auto factor = uint64_t{1} << (levels == 0 ? 3 : levels - 1);
    // Follows the model that diffusers takes SD 2.x's configuration from.
    auto config =
      infer_unet_config(*unet_, {.sample_size = image_size_ / factor,
                                 .upcast_attention = may_be_v_});
    if (!config)
      return config.why();
    out_.denoiser =
      inferred_part(*config, unet_, path_, "UNet2DConditionModel");
    // A standalone denoiser that says nothing of its schedule uses that of the
    // model that lends its parts.
    const bool lent = unet_alone_ && options_.parts_from && !prediction->told;
    zero_snr_ = prediction->zero_snr;
    if (!lent)
      write_schedule(prediction->type);
    return {};
  }

  void write_schedule(const std::string& prediction) {
    json_object x{{"_class_name", "DDIMScheduler"},
                  {"num_train_timesteps", 1000},
                  {"beta_start", 0.00085},
                  {"beta_end", 0.012},
                  {"beta_schedule", "scaled_linear"},
                  {"trained_betas", nullptr},
                  {"prediction_type", prediction},
                  {"clip_sample", false},
                  {"set_alpha_to_one", false},
                  {"steps_offset", 1},
                  {"timestep_spacing", "leading"}};
    if (is_xl() || is_refiner()) {
      x["_class_name"] = "EulerDiscreteScheduler";
      x["interpolation_type"] = "linear";
      x["use_karras_sigmas"] = false;
    } else if (out_.pipeline == &latent_consistency) {
      x["_class_name"] = "LCMScheduler";
      x["set_alpha_to_one"] = true;
      x["steps_offset"] = 0;
      x["original_inference_steps"] = 50;
      x["timestep_scaling"] = 10.0;
    }
    if (zero_snr_)
      x["rescale_betas_zero_snr"] = true;
    out_.scheduler = x.dump(2);
    out_.scheduler_file =
      fmt::format("{} (its kind's noise schedule)", path_.string());
  }

  core::result<void> open_vae() {
    const auto prefix = vae_prefix(names_);
    if (!prefix || options_.vae || unet_alone_)
      return {};
    auto traits = out_.pipeline->single_file_vae;
    traits.sample_size = image_size_;
    auto opened = open_original_vae(file_, path_, *prefix, traits);
    if (!opened)
      return opened.why();
    out_.vae = std::move(*opened);
    return {};
  }

  core::result<void> open_text(const text_layout& layout) {
    if (!has_text(layout))
      return {};
    names_list left_over;
    const auto cut = layout.prefix == sd2_text.prefix
                     ? std::optional{unused_layer}
                     : std::nullopt;
    auto weights = layout.family == text_family::clip
                   ? name_clip_text(file_, layout.prefix, left_over)
                   : name_open_clip_text(file_, layout.prefix, cut, left_over);
    auto config = infer_text_config(*weights, layout.family);
    if (!config)
      return config.why();
    const bool projects = weights->find("text_projection.weight").has_value();
    if (layout.second && !projects)
      return bad_file(path_, fmt::format("tensor {}text_projection is missing",
                                         layout.prefix));
    left_over_.insert(left_over.begin(), left_over.end());
    auto& into = layout.second ? out_.text_encoder_2 : out_.text_encoder;
    into =
      inferred_part(*config, std::move(weights), path_,
                    projects ? "CLIPTextModelWithProjection" : "CLIPTextModel");
    return {};
  }

  core::result<void> open_tokenizers() {
    if (options_.vocabulary.empty()
        || (!out_.text_encoder && !out_.text_encoder_2))
      return {};
    const auto found = find_tokenizer(options_.vocabulary);
    if (!found)
      return found.why();
    if (!*found)
      return core::fail(ec::not_found,
                        "{}: neither vocab.json and merges.txt nor "
                        "tokenizer.json",
                        options_.vocabulary.string());
    // OpenAI's encoder is padded with the end token, OpenCLIP's with id 0.
    if (out_.text_encoder)
      out_.tokenizer = with_padding(**found, sd2_ ? "!" : "<|endoftext|>");
    if (out_.text_encoder_2)
      out_.tokenizer_2 = with_padding(**found, "!");
    return {};
  }

  /// Notes tensors in the file that belong to no part, in groups.
  void note_the_rest() {
    if (unet_alone_)
      return;
    std::set<std::string> groups = left_over_;
    const auto vae = vae_prefix(names_);
    for (const auto& name : names_) {
      const auto belongs = [&](std::string_view prefix) {
        return name.starts_with(prefix);
      };
      if (belongs(unet_prefix) || name == "v_pred"
          || (name == "ztsnr" && zero_snr_)
          || std::any_of(
            text_layouts.begin(), text_layouts.end(),
            [&](const text_layout& x) { return belongs(x.prefix); }))
        continue;
      if (vae && belongs(*vae)) {
        if (belongs(fmt::format("{}loss.", *vae)))
          groups.insert(fmt::format("{}loss", *vae));
        else if (options_.vae)
          groups.insert(std::string{vae->substr(0, vae->size() - 1)});
        continue;
      }
      const auto dot = name.find('.');
      groups.insert(dot == std::string::npos && is_schedule(name)
                      ? "noise schedule"
                      : name.substr(0, dot));
    }
    for (const auto& x : groups)
      out_.not_loaded.push_back(printable(x));
  }

  /// Returns whether a name is one of the original's schedule, which is
  /// computed here.
  static bool is_schedule(std::string_view name) {
    return name.find("alphas_cumprod") != std::string_view::npos
        || name == "betas" || name == "lvlb_weights"
        || name.starts_with("posterior_");
  }

  file_ptr file_;
  const fs::path& path_;
  const model_file_options& options_;
  names_list names_;
  std::shared_ptr<const tensor_source> unet_;
  /// The file has only a denoiser, whose names have no prefix.
  bool unet_alone_ = false;
  bool sd2_ = false;
  bool may_be_v_ = false;
  bool zero_snr_ = false;
  uint64_t image_size_ = 512;
  std::set<std::string> left_over_;
  model_files out_;
};

} // namespace

bool is_single_unet(std::span<const std::string> names) {
  return std::ranges::any_of(names, [](std::string_view x) {
    return x.starts_with("input_blocks.") || x.starts_with("down_blocks.")
        || x.starts_with("model.diffusion_model.input_blocks.");
  });
}

core::result<model_files> open_single_file(
  std::shared_ptr<const safetensors_file> file, const fs::path& path,
  const model_file_options& options) {
  return checkpoint{std::move(file), path, options}.open();
}

} // namespace atelier::gpu::detail
