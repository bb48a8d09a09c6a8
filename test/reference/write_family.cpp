// SPDX-License-Identifier: Apache-2.0
// Writes the members of the family with random weights, and their networks'
// outputs for random input, for family.py.
//
// Usage: write_family FOLDER
//
// FOLDER/run contains the weights as a training writes them. FOLDER/MEMBER is a
// model's folder with weights in float32. FOLDER/half is tiny in float16; its
// autoencoder is a link to the first one's. FOLDER/MEMBER.safetensors, and
// those of preview and scorer, contain input and output of the networks in
// training.
#include "tensor_io.hpp"
#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/judge/scorer_net.hpp>
#include <atelier/gpu/models/judge/text_encoder_net.hpp>
#include <atelier/training/export_model.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/networks/tiny_decoder_net.hpp>
#include <atelier/training/networks/unet_net.hpp>

#include <cmath>

using namespace atelier;
using namespace atelier::gpu;
using reference::value_of;

namespace {

// Makes weights distinct and biases non-zero, so that a wrong one shows.
void spread(const torch::nn::Module& network) {
  const torch::NoGradGuard guard;
  for (auto& x : network.parameters())
    if (x.dim() <= 1)
      x.add_(torch::randn_like(x) * 0.1);
}

exported_network exported(const torch::nn::Module& network,
                          std::string config) {
  return {
    std::move(config), std::make_shared<module_state>(state_of(network)), {}};
}

// Returns an autoencoder, drawn with the shapes of its configuration.
exported_network drawn_autoencoder() {
  component x;
  x.config = autoencoder_config_text();
  x.config_file = "config.json";
  x.class_name = "AutoencoderKL";
  state_dict all;
  for (const auto& [name, shape] : value_of(gpu::detail::expect_tensors(x))) {
    auto drawn = torch::randn(shape);
    if (shape.size() > 1)
      drawn /= std::sqrt(static_cast<double>(drawn[0].numel()));
    else
      drawn = drawn * 0.1 + (name.ends_with("weight") ? 1 : 0);
    all.emplace(name, drawn);
  }
  return {x.config, std::make_shared<module_state>(all), {}};
}

torch::Tensor drawn_ids(int64_t rows) {
  auto out = torch::randint(514, family_text_encoder().vocab_size,
                            {rows, family_tokens}, torch::kInt64);
  for (int64_t i = 0; i < rows; ++i) {
    out[i][0] = bpe_vocabulary::start_id;
    out[i].narrow(0, 6 + 9 * i, family_tokens - 6 - 9 * i) =
      bpe_vocabulary::end_id;
  }
  return out;
}

// Writes the scorer, and its output for images and texts.
void write_scorer(const std::filesystem::path& folder,
                  const torch::Tensor& pixels) {
  scorer_net scorer{family_scorer()};
  spread(scorer);
  network_export what;
  what.config = scorer_config_text();
  what.weights = std::make_shared<module_state>(state_of(scorer));
  what.texts = tokenizer_texts(caption_vocabulary(), family_tokens);
  what.texts.emplace("preprocessor_config.json", scorer_processor_text());
  what.as = tensor_type::float32;
  value_of(export_network(what, folder / "scorer"));
  const auto ids = drawn_ids(2);
  reference::write_tensors(folder / "scorer.safetensors",
                           {{"pixels", pixels},
                            {"ids", ids},
                            {"features", scorer.features(pixels)},
                            {"pictures", scorer.embed_images(pixels)},
                            {"texts", scorer.embed_texts(ids)}});
}

// Writes a part's weights as a training writes them.
void write_part(const std::filesystem::path& folder, const std::string& part,
                const std::map<std::string, const tensor_source*>& networks) {
  std::vector<named_tensor> tensors;
  for (const auto& [prefix, network] : networks)
    for (const auto& name : network->names())
      tensors.push_back({prefix + name, *network->find(name)});
  const auto to = folder / "run" / part;
  std::filesystem::create_directories(to);
  value_of(write_safetensors(
    to / "weights.safetensors", tensors,
    {{"part", part}, {"seed", "11"}, {"steps", "0"}, {"busy_seconds", "0"}}));
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2)
    return 2;
  const std::filesystem::path folder{argv[1]};
  const torch::NoGradGuard guard;
  torch::manual_seed(11);
  const auto vae = drawn_autoencoder();
  tiny_autoencoder_net preview{family_tiny_autoencoder()};
  spread(preview);
  const auto pixels = torch::rand({2, 3, 128, 128}) * 2 - 1;
  const auto seen = preview.encode(pixels);
  const auto latents = torch::randn({2, 4, 16, 16});
  reference::write_tensors(folder / "preview.safetensors",
                           {{"pixels", pixels},
                            {"encoded", seen},
                            {"latents", latents},
                            {"decoded", preview.decode(latents)}});
  write_scorer(folder, pixels);
  write_part(folder, "vae", {{"", vae.weights.get()}});
  for (const auto member : {family_member::base, family_member::small,
                            family_member::tiny, family_member::turbo}) {
    unet_net denoiser{family_unet(member)};
    text_encoder_net words{family_text_encoder()};
    spread(denoiser);
    spread(words);
    auto what = family_export();
    what.unet = exported(denoiser, unet_config_text(member));
    what.text_encoder = exported(words, text_encoder_config_text());
    what.vae = vae;
    what.preview = exported(preview, tiny_autoencoder_config_text());
    what.card = "# Random weights\n";
    what.as = tensor_type::float32;
    const std::string name{to_string(member)};
    value_of(export_model(what, folder / name));
    write_part(folder, name,
               {{"unet.", what.unet.weights.get()},
                {"text_encoder.", what.text_encoder.weights.get()}});
    if (member == family_member::tiny) {
      what.as = tensor_type::float16;
      what.vae = {{}, nullptr, "../base/vae"};
      value_of(export_model(what, folder / "half"));
    }
    const auto ids = drawn_ids(3);
    const auto text = words.forward(ids);
    const auto x = torch::randn({3, 4, 16, 16});
    const auto times = torch::tensor({999.f, 500.f, 0.f});
    reference::write_tensors(
      folder / (name + ".safetensors"),
      {{"ids", ids},
       {"states", text.states},
       {"pooled", text.pooled},
       {"latents", x},
       {"timesteps", times},
       {"prediction", denoiser.forward(x, times, text.states)}});
  }
}
