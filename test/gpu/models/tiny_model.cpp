// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/tiny_model.hpp"

#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/files/float_types.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace atelier::test {

namespace {

size_t count_of(const std::vector<int64_t>& shape) {
  size_t n = 1;
  for (const auto side : shape)
    n *= static_cast<size_t>(side);
  return n;
}

std::string replaced(std::string text, const std::string& from,
                     const std::string& to) {
  if (const auto at = text.find(from); at != std::string::npos)
    text.replace(at, from.size(), to);
  return text;
}

} // namespace

void tensor_box::add(const std::string& name, std::vector<int64_t> shape,
                     const std::vector<float>& values) {
  BOOST_REQUIRE_EQUAL(count_of(shape), values.size());
  auto& stored = bytes_.emplace_back(values.size() * sizeof(float));
  if (!values.empty())
    std::memcpy(stored.data(), values.data(), stored.size());
  tensors_[name] = {gpu::tensor_type::float32, std::move(shape), stored};
}

void tensor_box::add(const std::string& name, std::vector<int64_t> shape,
                     gpu::tensor_type type) {
  std::vector<float> values(count_of(shape));
  for (auto& x : values) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<float>(static_cast<int32_t>(state_ >> 32)) * 0x1p-31f;
  }
  if (type == gpu::tensor_type::float32) {
    add(name, std::move(shape), values);
    return;
  }
  auto& stored = bytes_.emplace_back(values.size() * gpu::bytes_of(type));
  if (gpu::is_floating(type))
    gpu::detail::convert(gpu::tensor_type::float32,
                         std::as_bytes(std::span{values}), type, stored);
  tensors_[name] = {type, std::move(shape), stored};
}

void tensor_box::remove(const std::string& name) {
  BOOST_REQUIRE_EQUAL(tensors_.erase(name), 1u);
}

void tensor_box::rename(const std::string& from, const std::string& to) {
  auto node = tensors_.extract(from);
  BOOST_REQUIRE(!node.empty());
  node.key() = to;
  const bool inserted = tensors_.insert(std::move(node)).inserted;
  BOOST_REQUIRE(inserted);
}

const gpu::tensor_view& tensor_box::operator[](const std::string& name) const {
  const auto i = tensors_.find(name);
  BOOST_REQUIRE_MESSAGE(i != tensors_.end(), name);
  return i->second;
}

std::vector<std::string> tensor_box::names() const {
  std::vector<std::string> out;
  for (const auto& [name, x] : tensors_)
    out.push_back(name);
  return out;
}

std::vector<gpu::named_tensor> tensor_box::list() const {
  std::vector<gpu::named_tensor> out;
  for (const auto& [name, x] : tensors_)
    out.push_back({name, x, {}});
  return out;
}

void tensor_box::write(
  const std::filesystem::path& file,
  const std::map<std::string, std::string, std::less<>>& metadata) const {
  const auto ok = gpu::write_safetensors(file, list(), metadata);
  BOOST_REQUIRE_MESSAGE(ok, (ok ? "" : ok.why().text));
}

std::string tiny_unet_config(const std::string& more) {
  return R"({"_class_name": "UNet2DConditionModel", "in_channels": 4,
  "out_channels": 4, "block_out_channels": [32, 64], "layers_per_block": 1,
  "down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"],
  "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D"],
  "cross_attention_dim": 64, "attention_head_dim": 8)"
       + more + "}";
}

std::string tiny_vae_config(const std::string& more) {
  return R"({"_class_name": "AutoencoderKL", "block_out_channels": [32, 32],
  "down_block_types": ["DownEncoderBlock2D", "DownEncoderBlock2D"],
  "up_block_types": ["UpDecoderBlock2D", "UpDecoderBlock2D"],
  "layers_per_block": 1, "latent_channels": 4)"
       + more + "}";
}

std::string tiny_text_config() {
  return R"({"architectures": ["CLIPTextModel"], "hidden_size": 64,
  "intermediate_size": 32, "vocab_size": 50, "max_position_embeddings": 77,
  "num_hidden_layers": 2, "num_attention_heads": 1})";
}

tensor_box tiny_tensors(const std::string& class_name,
                        const std::string& config, uint64_t seed) {
  gpu::component x;
  x.class_name = class_name;
  x.config = config;
  x.config_file = "config.json";
  const auto expected = gpu::detail::expect_tensors(x);
  BOOST_REQUIRE_MESSAGE(expected, (expected ? "" : expected.why().text));
  tensor_box out{seed};
  for (const auto& [name, shape] : *expected)
    out.add(name, shape);
  return out;
}

tiny_folder::tiny_folder()
  : unet(tiny_tensors("UNet2DConditionModel", tiny_unet_config(), 1)),
    vae(tiny_tensors("AutoencoderKL", tiny_vae_config(), 2)),
    text(tiny_tensors("CLIPTextModel", tiny_text_config(), 3)) {
  write_at("model_index.json", R"({"_class_name": "StableDiffusionPipeline",
    "_diffusers_version": "0.42.1",
    "unet": ["diffusers", "UNet2DConditionModel"],
    "vae": ["diffusers", "AutoencoderKL"],
    "text_encoder": ["transformers", "CLIPTextModel"],
    "tokenizer": ["transformers", "CLIPTokenizer"],
    "scheduler": ["diffusers", "DDIMScheduler"],
    "safety_checker": ["stable_diffusion", "StableDiffusionSafetyChecker"],
    "feature_extractor": ["transformers", "CLIPImageProcessor"],
    "image_encoder": [null, null],
    "requires_safety_checker": true})");
  write_at("unet/config.json", tiny_unet_config());
  write_at("vae/config.json", tiny_vae_config());
  write_at("text_encoder/config.json", tiny_text_config());
  write_at("tokenizer/vocab.json",
           R"({"<|startoftext|>": 0, "<|endoftext|>": 1, "a</w>": 2})");
  write_at("tokenizer/merges.txt", "#version: 0.2\n");
  write_at("tokenizer/tokenizer_config.json", "{}");
  write_at("scheduler/scheduler_config.json",
           R"({"_class_name": "DDIMScheduler"})");
  write_unet(unet);
  vae.write(path / "vae" / "diffusion_pytorch_model.safetensors");
  text.write(path / "text_encoder" / "model.safetensors");
}

void tiny_folder::write_at(const std::string& name,
                           const std::string& text_) const {
  std::filesystem::create_directories((path / name).parent_path());
  write(name, text_);
}

void tiny_folder::write_unet(const tensor_box& x) const {
  x.write(path / "unet" / "diffusion_pytorch_model.safetensors");
}

void tiny_folder::remove(const std::string& name) const {
  BOOST_REQUIRE(std::filesystem::remove_all(path / name) > 0);
}

std::string tiny_mmdit_config(const std::string& more) {
  return R"({"_class_name": "SD3Transformer2DModel", "sample_size": 8,
  "patch_size": 2, "in_channels": 16, "out_channels": 16, "num_layers": 2,
  "attention_head_dim": 8, "num_attention_heads": 4,
  "joint_attention_dim": 136, "caption_projection_dim": 32,
  "pooled_projection_dim": 48, "pos_embed_max_size": 8)"
       + more + "}";
}

tiny_joint_folder::tiny_joint_folder() {
  write_at("model_index.json", R"({"_class_name": "StableDiffusion3Pipeline",
    "_diffusers_version": "0.42.1",
    "transformer": ["diffusers", "SD3Transformer2DModel"],
    "vae": ["diffusers", "AutoencoderKL"],
    "text_encoder": ["transformers", "CLIPTextModelWithProjection"],
    "text_encoder_2": ["transformers", "CLIPTextModelWithProjection"],
    "text_encoder_3": [null, null],
    "tokenizer": ["transformers", "CLIPTokenizer"],
    "tokenizer_2": ["transformers", "CLIPTokenizer"],
    "tokenizer_3": [null, null],
    "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"],
    "feature_extractor": [null, null], "image_encoder": [null, null]})");
  auto vae = tiny_vae_config(R"(, "use_quant_conv": false,
    "use_post_quant_conv": false, "scaling_factor": 1.5305,
    "shift_factor": 0.0609)");
  vae = replaced(vae, "\"latent_channels\": 4", "\"latent_channels\": 16");
  const auto text = replaced(tiny_text_config(), "CLIPTextModel",
                             "CLIPTextModelWithProjection");
  const auto with_projection = [&](int width) {
    return replaced(
      text, "\"hidden_size\"",
      fmt::format("\"projection_dim\": {}, \"hidden_size\"", width));
  };
  const auto put = [&](const std::string& name, const std::string& class_name,
                       const std::string& config, const std::string& file,
                       uint64_t seed) {
    write_at(name + "/config.json", config);
    tiny_tensors(class_name, config, seed).write(path / name / file);
  };
  constexpr auto diffusers = "diffusion_pytorch_model.safetensors";
  put("transformer", "SD3Transformer2DModel", tiny_mmdit_config(), diffusers,
      1);
  put("vae", "AutoencoderKL", vae, diffusers, 2);
  put("text_encoder", "CLIPTextModelWithProjection", with_projection(16),
      "model.safetensors", 3);
  put("text_encoder_2", "CLIPTextModelWithProjection", with_projection(32),
      "model.safetensors", 4);
  for (const std::string words : {"tokenizer", "tokenizer_2"}) {
    write_at(words + "/vocab.json",
             R"({"<|startoftext|>": 0, "<|endoftext|>": 1, "a</w>": 2})");
    write_at(words + "/merges.txt", "#version: 0.2\n");
    write_at(words + "/tokenizer_config.json", "{}");
  }
  write_at("scheduler/scheduler_config.json",
           R"({"_class_name": "FlowMatchEulerDiscreteScheduler",
             "shift": 3.0})");
}

void tiny_joint_folder::write_at(const std::string& name,
                                 const std::string& text) const {
  std::filesystem::create_directories((path / name).parent_path());
  write(name, text);
}

tensor_box tiny_checkpoint(const tiny_folder& from) {
  // The networks have one layer in each level, and two levels. Longer names
  // come first.
  static const std::vector<std::pair<std::string, std::string>> unet_names = {
    {"time_embedding.linear_1", "time_embed.0"},
    {"time_embedding.linear_2", "time_embed.2"},
    {"conv_in", "input_blocks.0.0"},
    {"conv_norm_out", "out.0"},
    {"conv_out", "out.2"},
    {"down_blocks.0.resnets.0", "input_blocks.1.0"},
    {"down_blocks.0.attentions.0", "input_blocks.1.1"},
    {"down_blocks.0.downsamplers.0.conv", "input_blocks.2.0.op"},
    {"down_blocks.1.resnets.0", "input_blocks.3.0"},
    {"mid_block.resnets.0", "middle_block.0"},
    {"mid_block.attentions.0", "middle_block.1"},
    {"mid_block.resnets.1", "middle_block.2"},
    {"up_blocks.0.resnets.0", "output_blocks.0.0"},
    {"up_blocks.0.resnets.1", "output_blocks.1.0"},
    {"up_blocks.0.upsamplers.0", "output_blocks.1.1"},
    {"up_blocks.1.resnets.0", "output_blocks.2.0"},
    {"up_blocks.1.attentions.0", "output_blocks.2.1"},
    {"up_blocks.1.resnets.1", "output_blocks.3.0"},
    {"up_blocks.1.attentions.1", "output_blocks.3.1"},
  };
  static const std::vector<std::pair<std::string, std::string>> resnet_names = {
    {".norm1.", ".in_layers.0."},
    {".conv1.", ".in_layers.2."},
    {".time_emb_proj.", ".emb_layers.1."},
    {".norm2.", ".out_layers.0."},
    {".conv2.", ".out_layers.3."},
    {".conv_shortcut.", ".skip_connection."},
  };
  static const std::vector<std::pair<std::string, std::string>> vae_names = {
    {"down_blocks.0.resnets", "down.0.block"},
    {"down_blocks.1.resnets", "down.1.block"},
    {"down_blocks.0.downsamplers.0", "down.0.downsample"},
    {"up_blocks.0.resnets", "up.1.block"},
    {"up_blocks.1.resnets", "up.0.block"},
    {"up_blocks.0.upsamplers.0", "up.1.upsample"},
    {"mid_block.resnets.0", "mid.block_1"},
    {"mid_block.resnets.1", "mid.block_2"},
    {"mid_block.attentions.0.group_norm", "mid.attn_1.norm"},
    {"mid_block.attentions.0.to_q", "mid.attn_1.q"},
    {"mid_block.attentions.0.to_k", "mid.attn_1.k"},
    {"mid_block.attentions.0.to_v", "mid.attn_1.v"},
    {"mid_block.attentions.0.to_out.0", "mid.attn_1.proj_out"},
    {"conv_norm_out", "norm_out"},
    {"conv_shortcut", "nin_shortcut"},
  };
  tensor_box out;
  const auto put = [&](const std::string& name, const gpu::tensor_view& x) {
    std::vector<float> values(gpu::elements_of(x));
    std::memcpy(values.data(), x.bytes.data(), x.bytes.size());
    auto shape = x.shape;
    // The original's attention is made of convolutions.
    if (name.find("mid.attn_1.") != std::string::npos && shape.size() == 2)
      shape.insert(shape.end(), {1, 1});
    out.add(name, shape, values);
  };
  for (const auto& fresh_name : from.unet.names()) {
    auto name = fresh_name;
    if (name.find(".resnets.") != std::string::npos)
      for (const auto& [fresh, old] : resnet_names)
        name = replaced(name, fresh, old);
    for (const auto& [fresh, old] : unet_names)
      if (name.starts_with(fresh + '.'))
        name = replaced(name, fresh, old);
    put("model.diffusion_model." + name, from.unet[fresh_name]);
  }
  for (auto name : from.vae.names()) {
    const auto& x = from.vae[name];
    for (const auto& [fresh, old] : vae_names)
      name = replaced(name, fresh, old);
    put("first_stage_model." + name, x);
  }
  for (const auto& name : from.text.names())
    put("cond_stage_model.transformer." + name, from.text[name]);
  return out;
}

} // namespace atelier::test
