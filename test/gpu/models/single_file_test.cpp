// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/tiny_model.hpp"
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

using namespace atelier;
using core::ec;

namespace {

struct fixture : test::tiny_folder {
  fixture() {
    options.vocabulary = path / "tokenizer";
  }

  core::result<gpu::model_files> open(
    const std::map<std::string, std::string, std::less<>>& metadata = {})
    const {
    box.write(path / "m.safetensors", metadata);
    return gpu::open_model(path / "m.safetensors", options);
  }

  std::string refusal(ec code,
                      const std::map<std::string, std::string, std::less<>>&
                        metadata = {}) const {
    const auto x = open(metadata);
    if (x)
      return "opened";
    BOOST_TEST((x.why().code == code), x.why().text);
    const auto start = (path / "m.safetensors").string() + ": ";
    return x.why().text.starts_with(start) ? x.why().text.substr(start.size())
                                           : x.why().text;
  }

  /// Adds the sizes' embedding, by which a denoiser is one of SDXL.
  void become_xl() {
    const std::string at = "model.diffusion_model.label_emb.0.";
    box.add(at + "0.weight", {128, 2816});
    box.add(at + "0.bias", {128});
    box.add(at + "2.weight", {128, 128});
    box.add(at + "2.bias", {128});
  }

  /// Returns the noise schedule of the file, whose parts may be incomplete.
  nlohmann::json schedule_of(const std::map<std::string, std::string,
                                            std::less<>>& metadata = {}) const {
    box.write(path / "m.safetensors", metadata);
    const auto x = gpu::open_parts(path / "m.safetensors", options);
    BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
    return nlohmann::json::parse(x->scheduler);
  }

  static void check_same(const gpu::tensor_source& ours,
                         const test::tensor_box& expected) {
    BOOST_TEST((ours.names() == expected.names()));
    for (const auto& name : expected.names()) {
      const auto view = ours.find(name);
      BOOST_TEST_REQUIRE(view.has_value(), name);
      BOOST_TEST((view->shape == expected[name].shape), name);
      BOOST_TEST(std::equal(view->bytes.begin(), view->bytes.end(),
                            expected[name].bytes.begin()),
                 name);
    }
  }

  test::tensor_box box = test::tiny_checkpoint(*this);
  gpu::model_file_options options;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(single_file_test, fixture)

BOOST_AUTO_TEST_CASE(a_checkpoint_shows_the_tensors_of_the_folder) {
  const auto x = open();
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST((x->pipeline == &gpu::stable_diffusion));
  check_same(*x->denoiser.weights, unet);
  check_same(*x->vae.weights, vae);
  check_same(*x->text_encoder->weights, text);
  BOOST_TEST(x->not_loaded.empty());
  BOOST_TEST(x->tokenizer->vocab == path / "tokenizer/vocab.json");
}

BOOST_AUTO_TEST_CASE(text_encoders_may_lack_the_name_of_the_inner_module) {
  const std::string prefix = "cond_stage_model.transformer.";
  for (const auto& name : text.names()) {
    BOOST_REQUIRE(name.starts_with("text_model."));
    box.rename(prefix + name, prefix + name.substr(11));
  }
  box.add(prefix + "embeddings.position_ids", {1, 77});
  const auto x = open();
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  check_same(*x->text_encoder->weights, text);
  BOOST_TEST(x->not_loaded.empty());
}

BOOST_AUTO_TEST_CASE(configurations_are_told_from_the_shapes) {
  const auto x = open();
  BOOST_REQUIRE(x);
  const auto config = nlohmann::json::parse(x->denoiser.config);
  BOOST_TEST(config["block_out_channels"] == nlohmann::json({32, 64}));
  BOOST_TEST(config["layers_per_block"] == 1);
  BOOST_TEST(config["cross_attention_dim"] == 64);
  BOOST_TEST(config["attention_head_dim"] == 8);
  BOOST_TEST(config["mid_block_type"] == "UNetMidBlock2DCrossAttn");
  const auto words = nlohmann::json::parse(x->text_encoder->config);
  BOOST_TEST(words["num_hidden_layers"] == 2);
  BOOST_TEST(words["hidden_act"] == "quick_gelu");
  const auto schedule = nlohmann::json::parse(x->scheduler);
  BOOST_TEST(schedule["prediction_type"] == "epsilon");
  BOOST_TEST(schedule["beta_start"] == 0.00085);
}

BOOST_AUTO_TEST_CASE(what_belongs_to_no_part_is_told) {
  box.add("model_ema.decay", {1});
  box.add("model_ema.diffusion_modelout0weight", {1});
  box.add("betas", {10});
  box.add("alphas_cumprod", {10});
  box.add("embedding_manager.x", {1});
  box.add("first_stage_model.loss.logvar", {1});
  const auto x = open();
  BOOST_REQUIRE(x);
  BOOST_TEST(
    (x->not_loaded
     == std::vector<std::string>{"embedding_manager", "first_stage_model.loss",
                                 "model_ema", "noise schedule"}));
}

BOOST_AUTO_TEST_CASE(tensors_without_a_place_are_refused_by_name) {
  box.add("model.diffusion_model.input_blocks.1.2.adapter.weight", {1});
  BOOST_TEST(refusal(ec::bad_payload)
             == "1 tensors have no place in the denoiser: "
                "model.diffusion_model.input_blocks.1.2.adapter.weight");
  box.remove("model.diffusion_model.input_blocks.1.2.adapter.weight");
  box.add("first_stage_model.decoder.up.0.attn.0.q.weight", {1});
  BOOST_TEST(refusal(ec::bad_payload)
             == "1 tensors have no place in the autoencoder: "
                "first_stage_model.decoder.up.0.attn.0.q.weight");
}

BOOST_AUTO_TEST_CASE(a_missing_tensor_that_tells_the_form_is_named) {
  box.remove("model.diffusion_model.out.2.weight");
  BOOST_TEST(refusal(ec::bad_payload) == "tensor conv_out.weight is missing");
}

BOOST_AUTO_TEST_CASE(without_a_vocabulary_it_is_told_how_to_name_one) {
  options.vocabulary.clear();
  BOOST_TEST(refusal(ec::not_found)
             == "tokenizer missing: a single file holds no vocabulary, so that "
                "a folder with CLIP's vocab.json and merges.txt must be named");
  options.vocabulary = path / "unet";
  BOOST_TEST(refusal(ec::not_found)
             == (path / "unet").string()
                  + ": neither vocab.json and merges.txt nor tokenizer.json");
}

BOOST_AUTO_TEST_CASE(the_prediction_is_what_is_said_first) {
  const auto prediction =
    [&](const std::map<std::string, std::string, std::less<>>& metadata) {
      const auto x = open(metadata);
      BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
      return nlohmann::json::parse(x->scheduler)["prediction_type"]
        .get<std::string>();
    };
  BOOST_TEST(prediction({}) == "epsilon");
  BOOST_TEST(prediction({{"modelspec.prediction_type", "v"}})
             == "v_prediction");
  BOOST_TEST(
    prediction({{"modelspec.architecture", "stable-diffusion-v2-768-v"}})
    == "v_prediction");
  options.prediction_type = "sample";
  BOOST_TEST(prediction({{"modelspec.prediction_type", "v"}}) == "sample");
  options.prediction_type = "noise";
  BOOST_TEST(refusal(ec::invalid_argument)
             == "prediction_type: 'noise' is not epsilon, v_prediction or "
                "sample");
  options.prediction_type = "";
  BOOST_TEST(refusal(ec::bad_payload, {{"modelspec.prediction_type", "x"}})
             == "modelspec.prediction_type: 'x' is not epsilon, v or sample");
  BOOST_TEST(refusal(ec::bad_payload,
                     {{"modelspec.architecture", "stable-diffusion-v1/lora"}})
               .starts_with("modelspec.architecture: stable-diffusion-v1/lora "
                            "is an addition"));
}

BOOST_AUTO_TEST_CASE(tensors_and_metadata_that_mark_the_prediction_are_obeyed) {
  const auto type = [&](const auto&... metadata) {
    return schedule_of(metadata...)["prediction_type"]
      .template get<std::string>();
  };
  using notes = std::map<std::string, std::string, std::less<>>;
  BOOST_TEST(type(notes{{"modelspec.predict_key", "v"}}) == "v_prediction");
  BOOST_TEST(type(notes{{"modelspec.architecture", "stable-diffusion-v2-768-v"},
                        {"modelspec.predict_key", "epsilon"}})
             == "epsilon");
  BOOST_TEST(refusal(ec::bad_payload, {{"modelspec.predict_key", "x"}})
             == "modelspec.predict_key: 'x' is not epsilon, v or sample");
  become_xl();
  BOOST_TEST(type() == "epsilon");
  // Without v_pred, ztsnr means nothing, and is noted.
  box.add("ztsnr", {0});
  BOOST_TEST(type() == "epsilon");
  BOOST_TEST((gpu::open_parts(path / "m.safetensors", options)->not_loaded
              == std::vector<std::string>{"ztsnr"}));
  box.add("v_pred", {0});
  BOOST_TEST(type(notes{{"modelspec.prediction_type", "epsilon"}})
             == "v_prediction");
  BOOST_TEST(schedule_of()["rescale_betas_zero_snr"] == true);
  BOOST_TEST(
    gpu::open_parts(path / "m.safetensors", options)->not_loaded.empty());
  box.remove("ztsnr");
  BOOST_TEST(type() == "v_prediction");
  BOOST_TEST(!schedule_of().contains("rescale_betas_zero_snr"));
  options.prediction_type = "epsilon";
  BOOST_TEST(type() == "epsilon");
  box.add("edm_vpred.sigma_max", {1});
  BOOST_TEST(refusal(ec::bad_payload)
             == "tensor edm_vpred.sigma_max: CosXL's noise schedule is not "
                "supported");
}

BOOST_AUTO_TEST_CASE(no_sampler_cuts_the_latents_of_a_single_file) {
  const auto check_uncut = [&] {
    const auto config = gpu::parse_scheduler(schedule_of().dump(), "schedule");
    BOOST_REQUIRE_MESSAGE(config, (config ? "" : config.why().text));
    for (const auto& row : core::samplers) {
      if (row.matches_flow)
        continue;
      gpu::sampler_choice choice;
      choice.sampler = row.of;
      choice.steps = 10;
      const auto plan = gpu::plan_sampler(*config, choice);
      BOOST_REQUIRE_MESSAGE(plan, (plan ? "" : plan.why().text));
      for (const auto& step : plan->steps)
        BOOST_TEST(step.clip == 0, row.name);
    }
  };
  check_uncut();
  become_xl();
  check_uncut();
}

BOOST_AUTO_TEST_CASE(files_of_other_kinds_are_called_by_name) {
  for (const auto& [tensor, what] :
       {std::pair{"lora_unet_down_blocks_0.alpha", "a LoRA"},
        std::pair{"control_model.time_embed.0.weight", "a ControlNet"},
        std::pair{"double_blocks.0.img_attn.proj.weight", "a Flux model"},
        std::pair{"joint_blocks.0.x_block.mlp.fc1.weight", "an SD 3 model"},
        std::pair{"first_stage_model.decoder.conv_in.weight",
                  "an autoencoder"}}) {
    test::tensor_box other;
    other.add(tensor, {1});
    box = std::move(other);
    BOOST_TEST(
      refusal(ec::bad_payload).ends_with(std::string{"looks like "} + what),
      tensor);
  }
  box = test::tensor_box{};
  BOOST_TEST(refusal(ec::bad_payload).starts_with("it holds no denoiser"));
  box.add("model.diffusion_model.input_blocks.0.0.weight", {4, 4, 3, 3});
  BOOST_TEST(refusal(ec::bad_payload)
             == "tensor down_blocks.0.resnets.0.conv1.weight is missing");
}

BOOST_AUTO_TEST_CASE(a_misaligned_file_is_opened_like_any_other) {
  const auto aligned = open();
  BOOST_REQUIRE(aligned);
  auto bytes = read("m.safetensors");
  // One more blank in the header moves all data by one byte.
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  ++length;
  std::memcpy(bytes.data(), &length, 8);
  bytes.insert(8 + length - 1, 1, ' ');
  write("m.safetensors", bytes);
  const auto x = gpu::open_model(path / "m.safetensors", options);
  BOOST_REQUIRE(x);
  BOOST_TEST(!gpu::is_aligned(*x->denoiser.weights->find("conv_in.weight")));
  check_same(*x->denoiser.weights, unet);
}

BOOST_AUTO_TEST_SUITE_END()
