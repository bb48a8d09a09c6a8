// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/tiny_model.hpp"
#include <atelier/gpu/models/catalog/model_check.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/model_import.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <algorithm>

using namespace atelier;

namespace {

struct fixture : test::tiny_folder {
  /// Writes a denoiser with these changes, and its tensors.
  void write_denoiser(const std::string& from, const std::string& to) const {
    const auto config = changed(test::tiny_unet_config(), from, to);
    write_at("unet/config.json", config);
    write_unet(test::tiny_tensors("UNet2DConditionModel", config));
  }

  static std::string changed(std::string in, const std::string& from,
                             const std::string& to) {
    const auto at = in.find(from);
    BOOST_REQUIRE(at != std::string::npos);
    return in.replace(at, from.size(), to);
  }

  /// Opens it as a server, a check and an import do; returns what they say
  /// after the name of the denoiser's configuration.
  std::string refusal(const gpu::model_file_options& open = {}) const {
    const auto model = gpu::open_model(path, open);
    BOOST_REQUIRE_MESSAGE(model, (model ? "" : model.why().text));
    const auto facts = gpu::facts_of(*model);
    BOOST_REQUIRE(!facts);
    BOOST_TEST((facts.why().code == core::ec::bad_config));
    const auto& said = facts.why().text;
    gpu::check_options options;
    options.open = open;
    const auto checked = gpu::check_model(path, options);
    BOOST_REQUIRE(checked);
    BOOST_TEST(!checked->sound());
    BOOST_TEST(std::ranges::any_of(
      checked->findings, [&](const auto& x) { return x.text == said; }));
    const test::scratch_folder to;
    gpu::import_options import;
    import.open = open;
    const auto imported = gpu::import_model(path, to.path / "copy", import);
    BOOST_REQUIRE(!imported);
    BOOST_TEST(imported.why().text == said);
    BOOST_TEST(!std::filesystem::exists(to.path / "copy"));
    const auto prefix = model->denoiser.config_file + ": ";
    BOOST_REQUIRE_MESSAGE(said.starts_with(prefix), said);
    return said.substr(prefix.size());
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(fitting_parts, fixture)

BOOST_AUTO_TEST_CASE(denoisers_that_take_more_than_a_latent_are_refused) {
  using pair = std::pair<int, std::string>;
  for (const auto& [channels, what] :
       {pair{9, "inpainting models"},
        pair{8, "models that edit an image by an instruction"},
        pair{7, "models that enlarge an image"},
        pair{5, "models that also take a depth map"},
        pair{12, "models that take more than a latent"}}) {
    write_denoiser("\"in_channels\": 4",
                   fmt::format("\"in_channels\": {}", channels));
    BOOST_TEST(refusal()
               == fmt::format("in_channels {}: {} are not supported; expected "
                              "4, as out_channels",
                              channels, what));
  }
  write_denoiser("\"out_channels\": 4", "\"out_channels\": 8");
  BOOST_TEST(refusal() == "out_channels 8: expected 4, as in_channels");
}

BOOST_AUTO_TEST_CASE(latents_have_the_autoencoders_channels) {
  const auto config = changed(test::tiny_vae_config(), "\"latent_channels\": 4",
                              "\"latent_channels\": 16");
  const test::scratch_folder other;
  other.write("config.json", config);
  test::tiny_tensors("AutoencoderKL", config)
    .write(other.path / "diffusion_pytorch_model.safetensors");
  gpu::model_file_options options;
  options.vae = other.path;
  BOOST_TEST(refusal(options)
             == fmt::format("in_channels 4, but the autoencoder's latents have "
                            "16 ({})",
                            (other.path / "config.json").string()));
}

BOOST_AUTO_TEST_CASE(the_text_has_the_width_that_the_denoiser_takes) {
  write_denoiser("\"cross_attention_dim\": 64", "\"cross_attention_dim\": 48");
  BOOST_TEST(refusal()
             == "cross_attention_dim 48, but a token of the text encoder has "
                "64 numbers");
  write_denoiser("\"cross_attention_dim\": 64",
                 "\"cross_attention_dim\": 64, \"encoder_hid_dim\": 80, "
                 "\"encoder_hid_dim_type\": \"text_proj\"");
  BOOST_TEST(refusal()
             == "encoder_hid_dim 80, but a token of the text encoder has 64 "
                "numbers");
}

BOOST_AUTO_TEST_CASE(borrowed_texts_have_that_width_too) {
  const test::tiny_folder lender;
  const auto config =
    changed(test::tiny_unet_config(), "\"cross_attention_dim\": 64",
            "\"cross_attention_dim\": 128");
  const auto lone = path / "lone";
  std::filesystem::create_directories(lone);
  write("lone/config.json", config);
  test::tiny_tensors("UNet2DConditionModel", config)
    .write(lone / "diffusion_pytorch_model.safetensors");
  gpu::import_options options;
  options.open.parts_from = lender.path;
  const auto made = gpu::import_model(lone, path / "copy", options);
  BOOST_REQUIRE(!made);
  BOOST_TEST(made.why().text.find("cross_attention_dim 128")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(pooled_texts_and_sizes_fill_what_the_denoiser_takes) {
  auto index = read("model_index.json");
  index =
    changed(index, "StableDiffusionPipeline", "StableDiffusionXLPipeline");
  index = changed(index, "\"tokenizer\":",
                  "\"text_encoder_2\": [\"transformers\", "
                  "\"CLIPTextModelWithProjection\"], \"tokenizer_2\": "
                  "[\"transformers\", \"CLIPTokenizer\"], \"tokenizer\":");
  write_at("model_index.json", index);
  auto second = changed(test::tiny_text_config(), "CLIPTextModel",
                        "CLIPTextModelWithProjection");
  second = changed(second, "\"hidden_size\"",
                   "\"projection_dim\": 40, \"hidden_size\"");
  write_at("text_encoder_2/config.json", second);
  test::tiny_tensors("CLIPTextModelWithProjection", second)
    .write(path / "text_encoder_2" / "model.safetensors");
  std::filesystem::copy(path / "tokenizer", path / "tokenizer_2");
  const auto with = [&](int width) {
    write_denoiser("\"cross_attention_dim\": 64",
                   fmt::format("\"cross_attention_dim\": 128, "
                               "\"addition_embed_type\": \"text_time\", "
                               "\"addition_time_embed_dim\": 8, "
                               "\"projection_class_embeddings_input_dim\": {}",
                               width));
  };
  with(90);
  BOOST_TEST(refusal()
             == "projection_class_embeddings_input_dim 90: expected 88, the 40 "
                "numbers of the pooled text and 6 of addition_time_embed_dim "
                "8");
  with(88);
  const auto model = gpu::open_model(path, {});
  BOOST_REQUIRE_MESSAGE(model, (model ? "" : model.why().text));
  const auto facts = gpu::facts_of(*model);
  BOOST_TEST(bool(facts), (facts ? "" : facts.why().text));
}

BOOST_AUTO_TEST_CASE(sizes_belong_to_models_with_pooled_texts) {
  write_denoiser("\"cross_attention_dim\": 64",
                 "\"cross_attention_dim\": 64, \"addition_embed_type\": "
                 "\"text_time\", \"addition_time_embed_dim\": 8, "
                 "\"projection_class_embeddings_input_dim\": 88");
  BOOST_TEST(refusal()
             == "addition_embed_type text_time, but a model of kind "
                "stable_diffusion has no pooled text and no sizes");
}

BOOST_AUTO_TEST_SUITE_END()
