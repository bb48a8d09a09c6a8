// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/config_reader.hpp>
#include <atelier/gpu/models/detail/expected_tensors.hpp>
#include <atelier/gpu/models/detail/expected_unet.hpp>
#include <atelier/gpu/models/detail/json_file.hpp>
#include <atelier/gpu/models/detail/printable.hpp>
#include <atelier/gpu/models/detail/tensor_table.hpp>

#include <fmt/ranges.h>

#include <algorithm>

namespace atelier::gpu::detail {

namespace {

using core::ec;

/// Adds a half of AutoencoderKL's. `channels` in the order of its blocks.
void add_half(tensor_table& to, const std::string& half,
              const std::vector<int64_t>& channels, int64_t layers,
              bool attends, bool decodes) {
  const auto middle = decodes ? channels.front() : channels.back();
  auto width = channels.front();
  for (size_t i = 0; i < channels.size(); ++i) {
    const auto block =
      fmt::format("{}.{}_blocks.{}.", half, decodes ? "up" : "down", i);
    for (int64_t j = 0; j < layers && !to.full(); ++j) {
      to.add_resnet(fmt::format("{}resnets.{}", block, j), width, channels[i],
                    0);
      width = channels[i];
    }
    if (i + 1 < channels.size())
      to.add_conv(
        fmt::format("{}{}samplers.0.conv", block, decodes ? "up" : "down"),
        width, width, 3);
  }
  for (const auto* x : {"resnets.0", "resnets.1"})
    to.add_resnet(fmt::format("{}.mid_block.{}", half, x), middle, middle, 0);
  if (attends) {
    const auto attention = half + ".mid_block.attentions.0.";
    to.add_norm(attention + "group_norm", middle);
    for (const auto* x : {"to_q", "to_k", "to_v", "to_out.0"})
      to.add_linear(attention + x, middle, middle);
  }
  to.add_norm(half + ".conv_norm_out", channels.back());
}

void expect_vae(config_reader& x, tensor_table& to) {
  auto channels = x.wholes("block_out_channels");
  const auto layers = x.whole("layers_per_block", 1);
  const auto latent = x.whole("latent_channels", 4);
  const bool attends = x.flag("mid_block_add_attention", true);
  for (const auto& kind : x.words("down_block_types"))
    if (kind != "DownEncoderBlock2D")
      x.fault("down_block_types", printable(kind) + " is not known here");
  for (const auto& kind : x.words("up_block_types"))
    if (kind != "UpDecoderBlock2D")
      x.fault("up_block_types", printable(kind) + " is not known here");
  if (x.why())
    return;
  to.add_conv("encoder.conv_in", x.whole("in_channels", 3), channels.front(),
              3);
  add_half(to, "encoder", channels, layers, attends, false);
  to.add_conv("encoder.conv_out", channels.back(), 2 * latent, 3);
  std::reverse(channels.begin(), channels.end());
  to.add_conv("decoder.conv_in", latent, channels.front(), 3);
  add_half(to, "decoder", channels, layers + 1, attends, true);
  to.add_conv("decoder.conv_out", channels.back(), x.whole("out_channels", 3),
              3);
  if (x.flag("use_quant_conv", true))
    to.add_conv("quant_conv", 2 * latent, 2 * latent, 1);
  if (x.flag("use_post_quant_conv", true))
    to.add_conv("post_quant_conv", latent, latent, 1);
}

/// Adds `count` blocks of AutoencoderTiny, which lie at `index` and behind it.
void add_tiny_blocks(tensor_table& to, const std::string& half, size_t& index,
                     int64_t count, int64_t width) {
  for (int64_t i = 0; i < count && !to.full(); ++i, ++index)
    for (const auto* conv : {"conv.0", "conv.2", "conv.4"})
      to.add_conv(fmt::format("{}.layers.{}.{}", half, index, conv), width,
                  width, 3);
}

void expect_tiny_vae(config_reader& x, tensor_table& to) {
  const auto layer = [](const char* half, size_t index) {
    return fmt::format("{}.layers.{}", half, index);
  };
  const auto widths = x.wholes("encoder_block_out_channels");
  const auto counts = x.wholes("num_encoder_blocks", widths.size());
  const auto up_widths = x.wholes("decoder_block_out_channels");
  const auto up_counts = x.wholes("num_decoder_blocks", up_widths.size());
  const auto latent = x.whole("latent_channels", 4);
  if (x.why())
    return;
  size_t index = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (i == 0)
      to.add_conv(layer("encoder", index++), x.whole("in_channels", 3),
                  widths[i], 3);
    else
      to.add(layer("encoder", index++) + ".weight",
             {widths[i], widths[i], 3, 3});
    add_tiny_blocks(to, "encoder", index, counts[i], widths[i]);
  }
  to.add_conv(layer("encoder", index), widths.back(), latent, 3);
  to.add_conv(layer("decoder", 0), latent, up_widths.front(), 3);
  // An activation has no tensors, but a number; so has the resizing below.
  index = 2;
  for (size_t i = 0; i < up_widths.size(); ++i) {
    add_tiny_blocks(to, "decoder", index, up_counts[i], up_widths[i]);
    if (i + 1 == up_widths.size())
      to.add_conv(layer("decoder", index), up_widths[i],
                  x.whole("out_channels", 3), 3);
    else
      to.add(layer("decoder", ++index) + ".weight",
             {up_widths[i], up_widths[i], 3, 3});
    ++index;
  }
}

void expect_text(config_reader& x, tensor_table& to, bool projects) {
  const auto width = x.whole("hidden_size", 512);
  const auto inner = x.whole("intermediate_size", 2048);
  to.add("text_model.embeddings.token_embedding.weight",
         {x.whole("vocab_size", 49408), width});
  to.add("text_model.embeddings.position_embedding.weight",
         {x.whole("max_position_embeddings", 77), width});
  const auto layers = x.whole("num_hidden_layers", 12);
  for (int64_t i = 0; i < layers && !to.full(); ++i) {
    const auto layer = fmt::format("text_model.encoder.layers.{}.", i);
    to.add_norm(layer + "layer_norm1", width);
    to.add_norm(layer + "layer_norm2", width);
    for (const auto* part : {"q_proj", "k_proj", "v_proj", "out_proj"})
      to.add_linear(fmt::format("{}self_attn.{}", layer, part), width, width);
    to.add_linear(layer + "mlp.fc1", width, inner);
    to.add_linear(layer + "mlp.fc2", inner, width);
  }
  to.add_norm("text_model.final_layer_norm", width);
  if (projects)
    to.add("text_projection.weight", {x.whole("projection_dim", 512), width});
}

/// Returns the name that a text encoder's tensor has with its prefix, which
/// transformers 5 leaves out of CLIPTextModel's.
std::string with_prefix(const std::string& name) {
  return name.starts_with("embeddings.") || name.starts_with("encoder.layers.")
          || name.starts_with("final_layer_norm.")
         ? "text_model." + name
         : name;
}

} // namespace

core::result<expected_tensors> expect_tensors(const component& x, size_t most) {
  const auto object = parse_object(x.config, x.config_file);
  if (!object)
    return object.why();
  config_reader config{*object, x.config_file};
  tensor_table out{most, {}};
  if (x.class_name == "UNet2DConditionModel")
    expect_unet(config, out);
  else if (x.class_name == "AutoencoderKL")
    expect_vae(config, out);
  else if (x.class_name == "AutoencoderTiny")
    expect_tiny_vae(config, out);
  else if (x.class_name == "CLIPTextModel"
           || x.class_name == "CLIPTextModelWithProjection")
    expect_text(config, out, x.class_name != "CLIPTextModel");
  else
    config.fault("_class_name", printable(x.class_name) + " is not known here");
  if (config.why())
    return *config.why();
  if (out.full())
    return core::fail(ec::bad_config,
                      "{}: its numbers ask for more than {} "
                      "tensors",
                      x.config_file, most);
  return std::move(out.tensors);
}

core::result<std::vector<std::string>> compare_tensors(const component& x) {
  // Room to name some that are missing, in proportion to what is there.
  constexpr size_t spare = 1000;
  const auto names = x.weights->names();
  auto expected = expect_tensors(x, names.size() + spare);
  if (!expected)
    return expected.why();
  const bool text = x.class_name.starts_with("CLIPText");
  const auto where = x.weights->where();
  std::vector<std::string> out;
  for (const auto& name : names) {
    const auto known = text ? with_prefix(name) : name;
    if (known == "text_model.embeddings.position_ids")
      continue;
    const auto i = expected->find(known);
    if (i == expected->end()) {
      out.push_back(fmt::format("{}: tensor {} has no place in a {} of that "
                                "configuration",
                                where, printable(name), x.class_name));
      continue;
    }
    const auto view = *x.weights->find(name);
    if (view.shape != i->second)
      out.push_back(fmt::format("{}: tensor {} has shape [{}], not [{}]", where,
                                name, fmt::join(view.shape, ", "),
                                fmt::join(i->second, ", ")));
    if (!is_floating(view.type))
      out.push_back(fmt::format("{}: tensor {} is of type {}, not "
                                "floating-point",
                                where, name, to_string(view.type)));
    expected->erase(i);
  }
  for (const auto& [name, shape] : *expected)
    out.push_back(fmt::format("{}: tensor {} is missing", where, name));
  return out;
}

} // namespace atelier::gpu::detail
