// SPDX-License-Identifier: Apache-2.0
// Every reader of a configuration, with texts that no library has ever written.
#include "gpu/models/mutate.hpp"
#include "support/counted_memory.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/models/bert/bert_config.hpp>
#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/clip/clip_vision_config.hpp>
#include <atelier/gpu/models/clip/image_preparation.hpp>
#include <atelier/gpu/models/mmdit/mmdit_config.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace atelier;
using core::ec;

namespace {

// A tree's nodes are each many times as large as the two bytes that make one.
constexpr size_t tree_factor = 40;
constexpr size_t tree_spare = 20'000;

const std::vector<std::string> unets = {
  R"({"_class_name": "UNet2DConditionModel", "_diffusers_version": "0.42.1",
  "act_fn": "silu", "addition_embed_type": "text_time",
  "addition_time_embed_dim": 256, "attention_head_dim": [5, 10, 20],
  "block_out_channels": [320, 640, 1280], "center_input_sample": false,
  "class_embed_type": null, "conv_in_kernel": 3, "cross_attention_dim": 2048,
  "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D",
  "CrossAttnDownBlock2D"], "downsample_padding": 1, "freq_shift": 0,
  "in_channels": 4, "layers_per_block": 2, "mid_block_type":
  "UNetMidBlock2DCrossAttn", "norm_eps": 1e-05, "norm_num_groups": 32,
  "only_cross_attention": false, "out_channels": 4,
  "projection_class_embeddings_input_dim": 2816, "sample_size": 128,
  "time_cond_proj_dim": null, "transformer_layers_per_block": [1, 2, 10],
  "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
  "upcast_attention": null, "use_linear_projection": true})",
  R"({"block_out_channels": [320, 640], "attention_head_dim": 8,
  "down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"],
  "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D"],
  "layers_per_block": [1, 2], "mid_block_type": null,
  "reverse_transformer_layers_per_block": [1, [1, 2]],
  "transformer_layers_per_block": [[1, 1], 1], "time_cond_proj_dim": 256,
  "addition_embed_type": "text", "encoder_hid_dim": 768,
  "encoder_hid_dim_type": "text_proj", "only_cross_attention": [true, false],
  "resnet_time_scale_shift": "scale_shift", "sample_size": [64, 64]})",
  "{}"};

const std::vector<std::string> transformers = {
  R"({"_class_name": "SD3Transformer2DModel", "_diffusers_version": "0.42.1",
  "attention_head_dim": 64, "caption_projection_dim": 1536,
  "dual_attention_layers": [], "in_channels": 16, "joint_attention_dim": 4096,
  "num_attention_heads": 24, "num_layers": 24, "out_channels": 16,
  "patch_size": 2, "pooled_projection_dim": 2048, "pos_embed_max_size": 192,
  "qk_norm": null, "sample_size": 128})",
  "{}"};

const std::vector<std::string> coders = {
  R"({"_class_name": "AutoencoderKL", "act_fn": "silu",
  "block_out_channels": [128, 256, 512, 512], "down_block_types":
  ["DownEncoderBlock2D", "DownEncoderBlock2D", "DownEncoderBlock2D",
  "DownEncoderBlock2D"], "force_upcast": true, "in_channels": 3,
  "latent_channels": 4, "latents_mean": [0, 1, 2, 3], "latents_std":
  [1, 2, 3, 4], "layers_per_block": 2, "mid_block_add_attention": true,
  "norm_num_groups": 32, "out_channels": 3, "sample_size": 512,
  "scaling_factor": 0.18215, "shift_factor": null, "up_block_types":
  ["UpDecoderBlock2D", "UpDecoderBlock2D", "UpDecoderBlock2D",
  "UpDecoderBlock2D"], "use_post_quant_conv": true, "use_quant_conv": true})",
  R"({"_class_name": "AutoencoderTiny", "act_fn": "relu",
  "decoder_block_out_channels": [64, 64, 64, 64],
  "encoder_block_out_channels": [64, 64, 64, 64], "force_upcast": false,
  "latent_channels": 4, "latent_magnitude": 3, "latent_shift": 0.5,
  "num_decoder_blocks": [3, 3, 3, 1], "num_encoder_blocks": [1, 3, 3, 3],
  "scaling_factor": 1.0, "upsample_fn": "nearest",
  "upsampling_scaling_factor": 2})"};

const std::vector<std::string> texts = {
  R"({"architectures": ["CLIPTextModel"], "bos_token_id": 0,
  "eos_token_id": 2, "hidden_act": "quick_gelu", "hidden_size": 768,
  "intermediate_size": 3072, "layer_norm_eps": 1e-05,
  "max_position_embeddings": 77, "model_type": "clip_text_model",
  "num_attention_heads": 12, "num_hidden_layers": 12, "projection_dim": 768,
  "torch_dtype": "float32", "vocab_size": 49408})",
  R"({"architectures": ["CLIPTextModelWithProjection"], "model_type": "clip",
  "text_config": {"hidden_act": "gelu", "hidden_size": 1280,
  "num_attention_heads": 20, "projection_dim": 1280,
  "num_hidden_layers": 32}})"};

const std::vector<std::string> image_towers = {
  R"({"model_type": "clip", "projection_dim": 768, "text_config": {},
  "vision_config": {"hidden_act": "quick_gelu", "hidden_size": 1024,
  "image_size": 224, "intermediate_size": 4096, "layer_norm_eps": 1e-05,
  "model_type": "clip_vision_model", "num_attention_heads": 16,
  "num_channels": 3, "num_hidden_layers": 24, "patch_size": 14,
  "projection_dim": 768}})",
  R"({"vision_config": {}})"};

const std::vector<std::string> preparations = {
  R"({"crop_size": {"height": 224, "width": 224}, "do_center_crop": true,
  "do_convert_rgb": true, "do_normalize": true, "do_rescale": true,
  "do_resize": true, "image_mean": [0.48, 0.46, 0.41],
  "image_std": [0.27, 0.26, 0.28], "resample": 3,
  "rescale_factor": 0.00392, "size": {"shortest_edge": 224}})",
  R"({"crop_size": 224, "size": 224})",
  R"({"do_center_crop": false, "size": {"height": 224, "width": 224}})"};

const std::vector<std::string> sentences = {
  R"({"architectures": ["BertModel"], "attention_probs_dropout_prob": 0.1,
  "hidden_act": "gelu", "hidden_size": 384, "intermediate_size": 1536,
  "layer_norm_eps": 1e-12, "max_position_embeddings": 512,
  "model_type": "bert", "num_attention_heads": 12, "num_hidden_layers": 6,
  "pad_token_id": 0, "position_embedding_type": "absolute",
  "type_vocab_size": 2, "use_cache": true, "vocab_size": 30522})",
  "{}"};

const std::vector<std::string> schedules = {
  R"({"_class_name": "PNDMScheduler", "beta_end": 0.012, "beta_schedule":
  "scaled_linear", "beta_start": 0.00085, "num_train_timesteps": 1000,
  "set_alpha_to_one": false, "skip_prk_steps": true, "steps_offset": 1,
  "trained_betas": null, "clip_sample": false})",
  R"({"_class_name": "DDIMScheduler", "prediction_type": "v_prediction",
  "rescale_betas_zero_snr": true, "timestep_spacing": "trailing",
  "trained_betas": [0.1, 0.2, 0.3], "num_train_timesteps": 3})",
  R"({"_class_name": "EulerDiscreteScheduler", "interpolation_type":
  "log_linear", "timestep_type": "continuous", "use_karras_sigmas": true})",
  R"({"_class_name": "EulerAncestralDiscreteScheduler",
  "timestep_spacing": "linspace"})",
  R"({"_class_name": "DPMSolverMultistepScheduler", "algorithm_type":
  "dpmsolver++", "solver_order": 2, "solver_type": "midpoint",
  "lower_order_final": true, "use_karras_sigmas": true})",
  R"({"_class_name": "LCMScheduler", "original_inference_steps": 50,
  "timestep_scaling": 10.0})",
  R"({"_class_name": "FlowMatchEulerDiscreteScheduler", "shift": 3.0,
  "num_train_timesteps": 1000})"};

/// Reads mutations of `starts` with `read`, which returns the reason for a
/// refusal.
template <class Read>
void fuzz(const std::vector<std::string>& starts, uint64_t number, Read read) {
  test::mutator mutate{test::seed() + number};
  size_t whole = 0;
  size_t most = 0;
  for (size_t i = test::scaled(100'000); i > 0; --i) {
    const auto text = mutate(starts[mutate.below(starts.size())]);
    std::optional<core::error> why;
    const auto bytes = test::most_bytes_of([&] { why = read(text, mutate); });
    BOOST_REQUIRE_LE(bytes, tree_factor * text.size() + tree_spare);
    most = std::max(most, bytes / (text.size() + 1));
    if (!why) {
      ++whole;
      continue;
    }
    BOOST_REQUIRE((why->code == ec::bad_config));
    BOOST_REQUIRE_MESSAGE(why->text.starts_with("FILE: "), why->text);
    BOOST_REQUIRE_LT(why->text.size(), 1000u);
  }
  BOOST_TEST_MESSAGE(whole << " were read; at most " << most
                           << " bytes for each of the text");
}

gpu::component part(const std::string& text, std::string class_name) {
  gpu::component out;
  out.config = text;
  out.config_file = "FILE";
  out.class_name = std::move(class_name);
  return out;
}

template <class T>
std::optional<core::error> why_of(const core::result<T>& x) {
  return x ? std::nullopt : std::optional{x.why()};
}

} // namespace

BOOST_AUTO_TEST_SUITE(config_fuzz_test)

BOOST_AUTO_TEST_CASE(mutated_denoisers_are_read_or_refused) {
  fuzz(unets, 10, [](const std::string& text, auto&) {
    return why_of(gpu::parse_unet_config(text, "FILE"));
  });
}

BOOST_AUTO_TEST_CASE(mutated_transformers_are_read_or_refused) {
  fuzz(transformers, 15, [](const std::string& text, auto&) {
    return why_of(gpu::parse_mmdit_config(text, "FILE"));
  });
}

BOOST_AUTO_TEST_CASE(mutated_autoencoders_are_read_or_refused) {
  fuzz(coders, 11, [](const std::string& text, auto& mutate) {
    const char* const names[] = {"AutoencoderKL", "AutoencoderTiny", ""};
    return why_of(
      gpu::read_autoencoder_config(part(text, names[mutate.below(3)])));
  });
}

BOOST_AUTO_TEST_CASE(mutated_text_encoders_are_read_or_refused) {
  fuzz(texts, 12, [](const std::string& text, auto& mutate) {
    const char* const names[] = {"CLIPTextModel", "CLIPTextModelWithProjection",
                                 ""};
    return why_of(
      gpu::read_clip_text_config(part(text, names[mutate.below(3)])));
  });
}

BOOST_AUTO_TEST_CASE(mutated_image_towers_are_read_or_refused) {
  fuzz(image_towers, 17, [](const std::string& text, auto&) {
    return why_of(gpu::read_clip_vision_config(part(text, "")));
  });
}

BOOST_AUTO_TEST_CASE(mutated_image_preparations_are_read_or_refused) {
  fuzz(preparations, 18, [](const std::string& text, auto&) {
    return why_of(gpu::read_image_preparation(text, "FILE", 224));
  });
}

BOOST_AUTO_TEST_CASE(mutated_sentence_encoders_are_read_or_refused) {
  fuzz(sentences, 16, [](const std::string& text, auto&) {
    return why_of(gpu::read_bert_config(part(text, "BertModel")));
  });
}

BOOST_AUTO_TEST_CASE(mutated_schedules_are_read_or_refused) {
  fuzz(schedules, 13, [](const std::string& text, auto&) {
    return why_of(gpu::parse_scheduler(text, "FILE"));
  });
}

BOOST_AUTO_TEST_CASE(what_is_read_can_be_planned_and_laid_out) {
  test::mutator mutate{test::seed() + 14};
  constexpr size_t most_tensors = 2'000;
  // The bound is a table of this many names and shapes, and of steps and
  // levels.
  constexpr size_t table_bytes = most_tensors * 400;
  for (size_t i = test::scaled(100'000); i > 0; --i) {
    const bool joint = mutate.below(2) == 0;
    const auto& all = joint ? transformers : unets;
    const auto unet = mutate(all[mutate.below(all.size())]);
    const auto bytes = test::most_bytes_of([&] {
      const auto x = gpu::detail::expect_tensors(
        part(unet, joint ? "SD3Transformer2DModel" : "UNet2DConditionModel"),
        most_tensors);
      if (x)
        BOOST_REQUIRE(!x->empty());
      else
        BOOST_REQUIRE(x.why().text.starts_with("FILE: "));
    });
    BOOST_REQUIRE_LE(bytes, tree_factor * unet.size() + table_bytes);
    const auto schedule = gpu::parse_scheduler(
      mutate(schedules[mutate.below(schedules.size())]), "FILE");
    if (!schedule || schedule->num_train_timesteps > 2'000)
      continue;
    gpu::sampler_choice choice;
    choice.sampler =
      static_cast<core::sampler>(mutate.below(core::sampler_count));
    choice.steps = static_cast<uint32_t>(mutate.below(60));
    choice.strength = static_cast<float>(mutate.below(11)) / 10;
    choice.karras = mutate.below(2) == 0;
    const auto plan = gpu::plan_sampler(*schedule, choice);
    if (plan)
      BOOST_REQUIRE_LE(plan->steps.size(), choice.steps);
    else
      BOOST_REQUIRE((plan.why().code == ec::invalid_argument));
  }
}

BOOST_AUTO_TEST_CASE(hostile_configurations_take_memory_in_proportion) {
  constexpr size_t size = 2'000'000;
  const auto filled = [](const std::string& start, const std::string& unit) {
    auto out = start;
    while (out.size() < size)
      out += unit;
    return out;
  };
  std::string keys = "{";
  for (size_t i = 0; keys.size() < size; ++i)
    keys += "\"" + std::to_string(i) + "\":1,";
  std::vector<std::string> all = {
    filled("{\"a\":", "["),
    filled("{\"a\":", "{\"a\":"),
    filled("{\"", "\\u0041"),
    filled("{", " "),
    filled("{\"block_out_channels\":[1", ",1") + "]}",
    filled("{\"trained_betas\":[0.1", ",0.1") + "]}",
    filled("{\"latents_mean\":[1", ",1") + "]}",
    keys,
    keys + "\"b\":1}"};
  for (const auto& text : all) {
    const auto check = [&](auto read) {
      const auto bytes = test::most_bytes_of([&] { BOOST_REQUIRE(!read()); });
      BOOST_REQUIRE_MESSAGE(bytes <= tree_factor * text.size() + tree_spare,
                            text.substr(0, 30)
                              << "...: " << bytes << " for " << text.size());
    };
    check([&] { return gpu::parse_unet_config(text, "FILE").operator bool(); });
    check([&] {
      return gpu::read_autoencoder_config(part(text, "")).operator bool();
    });
    check([&] {
      return gpu::read_clip_text_config(part(text, "")).operator bool();
    });
    check([&] { return gpu::parse_scheduler(text, "FILE").operator bool(); });
  }
}

BOOST_AUTO_TEST_SUITE_END()
