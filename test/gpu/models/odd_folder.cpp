// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/odd_folder.hpp"

#include <atelier/gpu/models/catalog/expected_tensors.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace atelier::test {

namespace {

constexpr auto diffusers_file = "diffusion_pytorch_model.safetensors";
constexpr auto transformers_file = "model.safetensors";
constexpr size_t most_tensors = 2'000;
/// Numbers of a tensor that is still written.
constexpr int64_t most_numbers = 1 << 16;

const char* word(bool x) {
  return x ? "true" : "false";
}

} // namespace

void odd_folder::next() {
  const auto latent = within(1, 6);
  const auto heads = within(1, 3);
  const auto width = heads * within(1, 24);
  put("unet", "UNet2DConditionModel", draw_unet(mostly(latent), mostly(width)),
      diffusers_file);
  put("vae", "AutoencoderKL", draw_vae(mostly(latent)), diffusers_file);
  put("text_encoder", "CLIPTextModel",
      fmt::format(R"({{"architectures": ["CLIPTextModel"], "hidden_size": {},
        "intermediate_size": {}, "vocab_size": {},
        "max_position_embeddings": 77, "num_hidden_layers": {},
        "num_attention_heads": {}, "hidden_act": "{}"}})",
                  width, within(1, 40), within(3, 50), within(1, 2),
                  mostly(heads), one_of(2) ? "gelu" : "quick_gelu"),
      transformers_file);
  if (one_of(20))
    cut(one_of(2) ? "unet/" + std::string{diffusers_file}
                  : "vae/" + std::string{diffusers_file});
}

std::string odd_folder::configs() const {
  return read("unet/config.json") + '\n' + read("vae/config.json") + '\n'
       + read("text_encoder/config.json");
}

std::string odd_folder::draw_unet(int64_t latent, int64_t text_width) {
  const auto levels = static_cast<size_t>(within(1, 2));
  const auto groups = within(1, 5);
  const auto heads = one_of(2) ? 1 : within(1, 4);
  std::vector<int64_t> widths;
  std::vector<const char*> down;
  std::vector<const char*> up;
  for (size_t i = 0; i < levels; ++i) {
    // A width is a multiple of both, or seldom any number.
    widths.push_back(mostly(groups * heads * within(1, one_of(3) ? 8 : 2)));
    const bool attends = !one_of(3);
    down.push_back(attends ? "CrossAttnDownBlock2D" : "DownBlock2D");
    up.insert(up.begin(), attends ? "CrossAttnUpBlock2D" : "UpBlock2D");
  }
  std::string more;
  if (one_of(4))
    more += R"(, "mid_block_type": null)";
  else if (one_of(4))
    more += R"(, "mid_block_type": "UNetMidBlock2D")";
  if (one_of(4))
    more += fmt::format(R"(, "time_embedding_dim": {})", within(1, 30));
  if (one_of(4))
    more += R"(, "resnet_time_scale_shift": "scale_shift")";
  if (one_of(6))
    more += R"(, "only_cross_attention": true)";
  if (one_of(6))
    more += fmt::format(R"(, "time_cond_proj_dim": {})", within(4, 12));
  auto context = text_width;
  if (one_of(6)) {
    context = within(1, 40);
    more += fmt::format(
      R"(, "encoder_hid_dim": {}, "encoder_hid_dim_type": "text_proj")",
      text_width);
  }
  if (one_of(6))
    more += fmt::format(R"(, "addition_embed_type": "text",
      "addition_embed_type_num_heads": {})",
                        within(1, 3));
  return fmt::format(
    R"({{"_class_name": "UNet2DConditionModel", "in_channels": {},
    "out_channels": {}, "block_out_channels": [{}], "layers_per_block": {},
    "down_block_types": ["{}"], "up_block_types": ["{}"],
    "cross_attention_dim": {}, "attention_head_dim": {},
    "norm_num_groups": {}, "sample_size": {}, "conv_in_kernel": {},
    "downsample_padding": {}, "use_linear_projection": {},
    "transformer_layers_per_block": {}, "center_input_sample": {}{}}})",
    latent, mostly(latent), fmt::join(widths, ", "), within(1, 2),
    fmt::join(down, "\", \""), fmt::join(up, "\", \""), context, heads, groups,
    within(1, 9), one_of(4) ? 1 : 3, within(0, 1), word(one_of(2)),
    within(1, 2), word(one_of(4)), more);
}

std::string odd_folder::draw_vae(int64_t latent) {
  const auto levels = static_cast<size_t>(within(1, 3));
  const auto groups = within(1, 5);
  std::vector<int64_t> widths;
  for (size_t i = 0; i < levels; ++i)
    widths.push_back(mostly(groups * within(1, 5)));
  const std::vector<const char*> down(levels, "DownEncoderBlock2D");
  const std::vector<const char*> up(levels, "UpDecoderBlock2D");
  const char* const functions[] = {"silu", "relu", "gelu", "mish"};
  return fmt::format(
    R"({{"_class_name": "AutoencoderKL", "block_out_channels": [{}],
    "down_block_types": ["{}"], "up_block_types": ["{}"],
    "layers_per_block": {}, "latent_channels": {}, "norm_num_groups": {},
    "act_fn": "{}", "mid_block_add_attention": {}, "use_quant_conv": {},
    "use_post_quant_conv": {}, "sample_size": {}}})",
    fmt::join(widths, ", "), fmt::join(down, "\", \""), fmt::join(up, "\", \""),
    within(1, 2), latent, groups, functions[draw_.below(4)], word(!one_of(4)),
    word(!one_of(4)), word(!one_of(4)), within(1, 64));
}

void odd_folder::put(const std::string& part, const std::string& class_name,
                     std::string config, const std::string& file) {
  if (one_of(10))
    config = draw_(config);
  write_at(part + "/config.json", config);
  gpu::component x;
  x.class_name = class_name;
  x.config = config;
  x.config_file = "config.json";
  const auto expected = gpu::detail::expect_tensors(x, most_tensors);
  if (!expected)
    return;
  tensor_box box{draw_.below(1000)};
  for (const auto& [name, shape] : *expected) {
    int64_t numbers = 1;
    for (const auto side : shape)
      numbers = numbers > most_numbers ? numbers : numbers * side;
    if (numbers > most_numbers)
      return;
    box.add(name, shape);
  }
  if (one_of(8))
    damage(box);
  box.write(path / part / file);
}

void odd_folder::damage(tensor_box& x) {
  const auto names = x.names();
  const auto& name = names[draw_.below(names.size())];
  const auto shape = x[name].shape;
  switch (draw_.below(4)) {
    case 0:
      x.remove(name);
      break;
    case 1:
      x.rename(name, name + "x");
      break;
    case 2:
      x.add("more." + name, shape);
      break;
    default: {
      auto other = shape;
      other[draw_.below(other.size())] += within(0, 1) == 0 ? 1 : 3;
      x.add(name, other,
            one_of(2) ? gpu::tensor_type::float32 : gpu::tensor_type::bfloat16);
      break;
    }
  }
}

void odd_folder::cut(const std::string& file) {
  const auto size = std::filesystem::file_size(path / file);
  std::filesystem::resize_file(path / file, draw_.below(size + 1));
}

} // namespace atelier::test
