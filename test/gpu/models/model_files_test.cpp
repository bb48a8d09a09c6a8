// SPDX-License-Identifier: Apache-2.0
#include "changed_folder.hpp"
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>

using namespace atelier;
using core::ec;
using test::weights_name;

BOOST_FIXTURE_TEST_SUITE(model_files_test, test::changed_folder)

BOOST_AUTO_TEST_CASE(a_folder_is_opened_with_all_of_its_parts) {
  const auto x = opened();
  BOOST_TEST((x.pipeline == &gpu::stable_diffusion));
  BOOST_TEST(x.denoiser.class_name == "UNet2DConditionModel");
  BOOST_TEST(x.denoiser.config == test::tiny_unet_config());
  BOOST_TEST(x.denoiser.config_file == (path / "unet/config.json").string());
  check_unet(x);
  BOOST_TEST(x.vae.class_name == "AutoencoderKL");
  BOOST_TEST(x.text_encoder->class_name == "CLIPTextModel");
  BOOST_TEST(!x.text_encoder_2);
  BOOST_TEST(x.tokenizer->vocab == path / "tokenizer/vocab.json");
  BOOST_TEST(x.tokenizer->merges == path / "tokenizer/merges.txt");
  BOOST_TEST(x.tokenizer->tokenizer_json.empty());
  BOOST_TEST(x.scheduler.find("DDIMScheduler") != std::string::npos);
  BOOST_TEST(
    (x.not_loaded
     == std::vector<std::string>{"feature_extractor", "safety_checker"}));
}

BOOST_AUTO_TEST_CASE(the_pipelines_class_decides_the_kind) {
  const auto kind_of = [&](const std::string& name) {
    change_index("StableDiffusionPipeline", name);
    auto x = gpu::open_parts(path, options);
    change_index(name, "StableDiffusionPipeline");
    BOOST_REQUIRE_MESSAGE(x, name);
    return x->pipeline->name;
  };
  BOOST_TEST(kind_of("StableDiffusionImg2ImgPipeline")
             == gpu::stable_diffusion.name);
  BOOST_TEST(kind_of("StableDiffusionInpaintPipeline")
             == gpu::stable_diffusion.name);
  BOOST_TEST(kind_of("StableDiffusionXLPipeline")
             == gpu::stable_diffusion_xl.name);
  BOOST_TEST(kind_of("StableDiffusionXLImg2ImgPipeline")
             == gpu::stable_diffusion_xl.name);
  BOOST_TEST(kind_of("LatentConsistencyModelPipeline")
             == gpu::latent_consistency.name);
}

BOOST_AUTO_TEST_CASE(xl_may_have_the_second_text_encoder_alone) {
  for (const auto* part : {"text_encoder", "tokenizer"})
    std::filesystem::rename(path / part, path / (std::string{part} + "_2"));
  change_index("\"text_encoder\": [\"transformers\", \"CLIPTextModel\"]",
               "\"text_encoder\": [null, null], \"text_encoder_2\": "
               "[\"transformers\", \"CLIPTextModelWithProjection\"]");
  change_index("\"tokenizer\":", "\"tokenizer\": [null, null], "
                                 "\"tokenizer_2\":");
  change_index("StableDiffusionPipeline", "StableDiffusionXLPipeline");
  auto x = opened();
  BOOST_TEST((x.pipeline == &gpu::stable_diffusion_xl));
  BOOST_TEST(!x.text_encoder);
  BOOST_TEST(x.text_encoder_2->class_name == "CLIPTextModelWithProjection");
  change_index("StableDiffusionXLPipeline", "StableDiffusionXLImg2ImgPipeline");
  change_index("\"requires_safety_checker\": true",
               "\"requires_aesthetics_score\": true, "
               "\"force_zeros_for_empty_prompt\": false");
  x = opened();
  BOOST_TEST((x.pipeline == &gpu::stable_diffusion_xl_refiner));
  BOOST_TEST(gpu::setting_of(x, gpu::aesthetic_score_setting));
  BOOST_TEST(!gpu::setting_of(x, gpu::zeros_for_empty_setting));
}

BOOST_AUTO_TEST_CASE(an_unknown_pipeline_or_part_is_refused_by_name) {
  change_index("StableDiffusionPipeline", "FluxPipeline");
  BOOST_TEST(refusal(ec::bad_payload)
               .starts_with("M/model_index.json: _class_name: 'FluxPipeline' "
                            "is not supported; these are: "
                            "StableDiffusionPipeline, "));
  change_index("FluxPipeline", "StableDiffusionPipeline");
  change_index("\"requires_safety_checker\"",
               "\"controlnet\": [\"diffusers\", \"ControlNetModel\"], "
               "\"requires_safety_checker\"");
  BOOST_TEST(refusal(ec::bad_payload)
             == "M/model_index.json: controlnet: a part (ControlNetModel) that "
                "is not supported");
  change_index("\"controlnet\": [\"diffusers\", \"ControlNetModel\"]",
               "\"magic\": 1");
  BOOST_TEST(refusal(ec::bad_payload)
             == "M/model_index.json: magic: not a key that is supported");
  change_index("\"magic\": 1", "\"magic\": [1, 2, 3]");
  BOOST_TEST(refusal(ec::bad_payload)
             == "M/model_index.json: magic: not a pair of a library and a "
                "class");
  change_index("\"magic\": [1, 2, 3]",
               "\"force_zeros_for_empty_prompt\": \"yes\"");
  BOOST_TEST(refusal(ec::bad_payload)
             == "M/model_index.json: force_zeros_for_empty_prompt: neither "
                "true nor false");
}

BOOST_AUTO_TEST_CASE(an_unknown_class_of_a_part_is_refused_by_name) {
  for (const auto& [from, to] :
       {std::pair{"\"UNet2DConditionModel\"", "\"SD3Transformer2DModel\""},
        std::pair{"\"AutoencoderKL\"", "\"VQModel\""},
        std::pair{"\"CLIPTextModel\"", "\"T5EncoderModel\""},
        std::pair{"\"CLIPTokenizer\"", "\"T5Tokenizer\""}}) {
    change_index(from, to);
    const auto word = std::string{to}.substr(1, std::strlen(to) - 2);
    BOOST_TEST(refusal(ec::bad_payload).find("class " + word + " is not")
                 != std::string::npos,
               to);
    change_index(to, from);
  }
  write_at("unet/config.json", R"({"_class_name": "UNet3DConditionModel"})");
  BOOST_TEST(refusal(ec::bad_payload)
             == "M/unet/config.json: _class_name is 'UNet3DConditionModel', "
                "not 'UNet2DConditionModel'");
}

BOOST_AUTO_TEST_CASE(a_folder_without_a_text_encoder_is_told) {
  remove("text_encoder");
  BOOST_TEST(refusal(ec::not_found) == "M: text_encoder missing");
  change_index("[\"transformers\", \"CLIPTextModel\"]", "[null, null]");
  BOOST_TEST(refusal(ec::not_found) == "M: text_encoder missing");
  const auto parts = gpu::open_parts(path, options);
  BOOST_REQUIRE(parts);
  BOOST_TEST(
    (gpu::missing_parts(*parts) == std::vector<std::string>{"text_encoder"}));
}

BOOST_AUTO_TEST_CASE(all_missing_parts_are_told_at_once) {
  for (const auto* part : {"unet", "vae", "tokenizer", "scheduler"})
    remove(part);
  BOOST_TEST(refusal(ec::not_found)
             == "M: unet, vae, tokenizer, scheduler "
                "missing");
}

BOOST_AUTO_TEST_CASE(a_part_without_a_file_names_it) {
  remove("unet/config.json");
  BOOST_TEST(refusal(ec::not_found)
             == "M/unet/config.json: No such file or directory");
  write_at("unet/config.json", test::tiny_unet_config());
  remove(std::string{"unet/"} + weights_name);
  BOOST_TEST(refusal(ec::not_found)
             == "M/unet: diffusion_pytorch_model.safetensors was not found");
  write_at("unet/model.safetensors", "");
  BOOST_TEST(
    refusal(ec::not_found)
    == "M/unet: diffusion_pytorch_model.safetensors was not found, only "
       "model.safetensors");
}

BOOST_AUTO_TEST_CASE(damaged_files_are_named) {
  for (const auto* name :
       {"model_index.json", "unet/config.json", "vae/config.json",
        "text_encoder/config.json", "scheduler/scheduler_config.json",
        "tokenizer/tokenizer_config.json"}) {
    const auto kept = read(name);
    for (const auto* text_ : {"", "{", "[]", "null", "\xff", "{\"a\":}"}) {
      write(name, text_);
      BOOST_TEST(refusal(ec::bad_payload)
                 == std::string{"M/"} + name + ": not a JSON object");
    }
    write(name, "{\"a\":" + std::string(100'000, '['));
    BOOST_TEST(refusal(ec::bad_payload)
               == std::string{"M/"} + name
                    + ": JSON nested deeper than 16 levels");
    write(name, std::string(2'000'000, ' '));
    BOOST_TEST(refusal(ec::bad_payload)
               == std::string{"M/"} + name
                    + ": 2000000 bytes, 1048576 are allowed");
    write(name, kept);
  }
  for (const auto* name : {"unet/diffusion_pytorch_model.safetensors",
                           "vae/diffusion_pytorch_model.safetensors",
                           "text_encoder/model.safetensors"}) {
    const auto kept = read(name);
    write(name, kept.substr(0, kept.size() - 1));
    BOOST_TEST(refusal(ec::bad_payload)
                 .starts_with(std::string{"M/"} + name + ": tensor "));
    write(name, "garbage, and more of it");
    BOOST_TEST(refusal(ec::bad_payload)
                 .starts_with(std::string{"M/"} + name + ": the header"));
    write(name, kept);
  }
  BOOST_TEST(static_cast<bool>(open()));
}

BOOST_AUTO_TEST_CASE(an_autoencoder_from_elsewhere_replaces_the_models) {
  test::scratch_folder other;
  const auto config = test::tiny_vae_config(", \"scaling_factor\": 0.5");
  auto box = test::tiny_tensors("AutoencoderKL", config, 7);
  std::filesystem::create_directories(other.path / "whole" / "vae");
  for (const auto* place : {"whole/vae/", ""}) {
    other.write(std::string{place} + "config.json", config);
    box.write(other.path / place / weights_name);
  }
  for (const auto& from :
       {other.path, other.path / "whole", other.path / weights_name}) {
    options.vae = from;
    const auto x = opened();
    const auto view = *x.vae.weights->find("encoder.conv_in.weight");
    BOOST_TEST(std::equal(view.bytes.begin(), view.bytes.end(),
                          box["encoder.conv_in.weight"].bytes.begin()));
    const bool file = from.extension() == ".safetensors";
    BOOST_TEST(x.vae.config.find(file ? "0.18215" : "0.5")
               != std::string::npos);
  }
  // The model's own autoencoder may then be invalid or missing.
  remove("vae");
  BOOST_TEST(static_cast<bool>(open()));
  options.vae = path;
  BOOST_TEST(refusal(ec::not_found)
             == "M: no autoencoder was found: neither config.json nor "
                "vae/config.json");
  options.vae = path / "unet";
  BOOST_TEST(refusal(ec::bad_payload)
               .starts_with("M/unet/config.json: _class_name: "
                            "UNet2DConditionModel is not supported"));
  options.vae = path / "unet" / weights_name;
  BOOST_TEST(refusal(ec::bad_payload).find("it holds no autoencoder")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(attention_with_the_names_of_before_is_shown_with_todays) {
  auto old = test::tiny_tensors("AutoencoderKL", test::tiny_vae_config(), 2);
  for (const auto* half : {"encoder", "decoder"})
    for (const auto& [now, before] :
         {std::pair{"to_q", "query"}, std::pair{"to_k", "key"},
          std::pair{"to_v", "value"}, std::pair{"to_out.0", "proj_attn"}})
      for (const auto* last : {".weight", ".bias"}) {
        const auto start = std::string{half} + ".mid_block.attentions.0.";
        old.rename(start + now + last, start + before + last);
      }
  old.write(path / "vae" / weights_name);
  BOOST_TEST((opened().vae.weights->names() == vae.names()));
}

BOOST_AUTO_TEST_CASE(a_denoiser_alone_takes_the_other_parts_from_a_model) {
  test::scratch_folder lone;
  lone.write("config.json",
             test::tiny_unet_config(", \"time_cond_proj_dim\": 16"));
  test::tiny_tensors("UNet2DConditionModel",
                     test::tiny_unet_config(", \"time_cond_proj_dim\": 16"))
    .write(lone.path / weights_name);
  const auto refused = gpu::open_model(lone.path, options);
  BOOST_TEST_REQUIRE(!refused);
  BOOST_TEST(refused.why().text
             == lone.path.string() + ": vae, text_encoder, scheduler missing");
  options.parts_from = path;
  const auto x = gpu::open_model(lone.path, options);
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST((x->pipeline == &gpu::latent_consistency));
  BOOST_TEST(
    x->denoiser.weights->find("time_embedding.cond_proj.weight").has_value());
  BOOST_TEST(x->tokenizer->vocab == path / "tokenizer/vocab.json");
  lone.write("config.json", test::tiny_unet_config(", \"addition_embed_type\": "
                                                   "\"text_time\""));
  const auto unlike = gpu::open_model(lone.path, options);
  BOOST_TEST_REQUIRE(!unlike);
  BOOST_TEST(unlike.why().text.find("cannot supply parts to one of kind "
                                    "stable_diffusion_xl")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_tokenizer_may_be_one_file) {
  remove("tokenizer/vocab.json");
  BOOST_TEST(refusal(ec::not_found) == "M: tokenizer missing");
  write_at("tokenizer/tokenizer.json", "{}");
  const auto x = opened();
  BOOST_TEST(x.tokenizer->tokenizer_json == path / "tokenizer/tokenizer.json");
  BOOST_TEST(x.tokenizer->vocab.empty());
  // It takes precedence over the other form.
  write_at("tokenizer/vocab.json", "{}");
  BOOST_TEST(opened().tokenizer->words() == path / "tokenizer/tokenizer.json");
}

BOOST_AUTO_TEST_CASE(what_is_no_model_is_told) {
  const auto none = gpu::open_model(path / "none", options);
  BOOST_TEST_REQUIRE(!none);
  BOOST_TEST((none.why().code == ec::not_found));
  BOOST_TEST(none.why().text
             == (path / "none").string() + ": no such file or folder");
  const auto folder = gpu::open_model(path / "tokenizer", options);
  BOOST_TEST_REQUIRE(!folder);
  BOOST_TEST((folder.why().code == ec::not_found));
  BOOST_TEST(!gpu::open_model(path / "text_encoder", options));
}

BOOST_AUTO_TEST_CASE(the_schedule_of_a_folder_can_be_said_by_hand) {
  options.prediction_type = "v_prediction";
  options.timestep_spacing = "trailing";
  const auto facts = gpu::facts_of(opened());
  BOOST_REQUIRE_MESSAGE(facts, (facts ? "" : facts.why().text));
  BOOST_TEST((facts->schedule.predicts == gpu::prediction::v_prediction));
  BOOST_TEST((facts->schedule.spacing == gpu::timestep_spacing::trailing));
  options.prediction_type.clear();
  write("scheduler/scheduler_config.json",
        R"({"_class_name": "FlowMatchEulerDiscreteScheduler"})");
  const auto flow = open();
  BOOST_TEST_REQUIRE(!flow);
  BOOST_TEST((flow.why().code == ec::invalid_argument));
  BOOST_TEST(flow.why().text
             == "timestep_spacing: 'trailing' has no meaning for a model that "
                "predicts flow");
}

BOOST_AUTO_TEST_SUITE_END()
