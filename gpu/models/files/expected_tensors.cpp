// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/guarded.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/files/detail/tensor_table.hpp>
#include <atelier/gpu/models/files/expected_tensors.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <fmt/ranges.h>

#include <algorithm>

namespace atelier::gpu::detail {

namespace {

using core::ec;

/// Adds a half of AutoencoderKL. `channels` is in the order of its blocks.
void add_half(tensor_table& to, const std::string& half,
              const std::vector<int64_t>& channels, int64_t layers,
              bool attends, bool decodes) {
  const auto middle = decodes ? channels.front() : channels.back();
  auto width = channels.front();
  for (size_t i = 0; i < channels.size(); ++i) {
    const auto block =
      fmt::format("{}.{}_blocks.{}.", half, decodes ? "up" : "down", i);
    for (int64_t j = 0; j < layers && !to.full(); ++j) {
      to.add_resnet(fmt::format("{}resnets.{}", block, j), width, channels[i]);
      width = channels[i];
    }
    if (i + 1 < channels.size())
      to.add_conv(
        fmt::format("{}{}samplers.0.conv", block, decodes ? "up" : "down"),
        width, width, 3);
  }
  for (const auto* x : {"resnets.0", "resnets.1"})
    to.add_resnet(fmt::format("{}.mid_block.{}", half, x), middle, middle);
  if (attends) {
    const auto attention = half + ".mid_block.attentions.0.";
    to.add_norm(attention + "group_norm", middle);
    for (const auto* x : {"to_q", "to_k", "to_v", "to_out.0"})
      to.add_linear(attention + x, middle, middle);
  }
  to.add_norm(half + ".conv_norm_out", channels.back());
}

void expect_vae(const autoencoder_config& x, tensor_table& to) {
  auto channels = x.block_out_channels;
  const auto latent = x.latent_channels;
  to.add_conv("encoder.conv_in", 3, channels.front(), 3);
  add_half(to, "encoder", channels, x.layers_per_block,
           x.mid_block_add_attention, false);
  to.add_conv("encoder.conv_out", channels.back(), 2 * latent, 3);
  std::reverse(channels.begin(), channels.end());
  to.add_conv("decoder.conv_in", latent, channels.front(), 3);
  add_half(to, "decoder", channels, x.layers_per_block + 1,
           x.mid_block_add_attention, true);
  to.add_conv("decoder.conv_out", channels.back(), 3, 3);
  if (x.use_quant_conv)
    to.add_conv("quant_conv", 2 * latent, 2 * latent, 1);
  if (x.use_post_quant_conv)
    to.add_conv("post_quant_conv", latent, latent, 1);
}

/// Adds `count` blocks of AutoencoderTiny, from `index` on.
void add_tiny_blocks(tensor_table& to, const std::string& half, size_t& index,
                     int64_t count, int64_t width) {
  for (int64_t i = 0; i < count && !to.full(); ++i, ++index)
    for (const auto* conv : {"conv.0", "conv.2", "conv.4"})
      to.add_conv(fmt::format("{}.layers.{}.{}", half, index, conv), width,
                  width, 3);
}

void expect_tiny_vae(const autoencoder_config& x, tensor_table& to) {
  const auto layer = [](const char* half, size_t index) {
    return fmt::format("{}.layers.{}", half, index);
  };
  const auto down = x.encoder_channels;
  const auto up = x.decoder_channels;
  size_t index = 0;
  for (size_t i = 0; i < x.num_encoder_blocks.size(); ++i) {
    if (i == 0)
      to.add_conv(layer("encoder", index++), 3, down, 3);
    else
      to.add(layer("encoder", index++) + ".weight", {down, down, 3, 3});
    add_tiny_blocks(to, "encoder", index, x.num_encoder_blocks[i], down);
  }
  to.add_conv(layer("encoder", index), down, x.latent_channels, 3);
  to.add_conv(layer("decoder", 0), x.latent_channels, up, 3);
  // An activation has an index but no tensors; the same holds for the resizing
  // below.
  index = 2;
  for (size_t i = 0; i < x.num_decoder_blocks.size(); ++i) {
    add_tiny_blocks(to, "decoder", index, x.num_decoder_blocks[i], up);
    if (i + 1 == x.num_decoder_blocks.size())
      to.add_conv(layer("decoder", index), up, 3, 3);
    else
      to.add(layer("decoder", ++index) + ".weight", {up, up, 3, 3});
    ++index;
  }
}

void expect_text(const clip_text_config& x, tensor_table& to) {
  const auto width = x.hidden_size;
  to.add("text_model.embeddings.token_embedding.weight", {x.vocab_size, width});
  to.add("text_model.embeddings.position_embedding.weight",
         {x.max_position_embeddings, width});
  for (int64_t i = 0; i < x.layers && !to.full(); ++i) {
    const auto layer = fmt::format("text_model.encoder.layers.{}.", i);
    to.add_norm(layer + "layer_norm1", width);
    to.add_norm(layer + "layer_norm2", width);
    for (const auto* part : {"q_proj", "k_proj", "v_proj", "out_proj"})
      to.add_linear(fmt::format("{}self_attn.{}", layer, part), width, width);
    to.add_linear(layer + "mlp.fc1", width, x.intermediate_size);
    to.add_linear(layer + "mlp.fc2", x.intermediate_size, width);
  }
  to.add_norm("text_model.final_layer_norm", width);
  if (x.projection_dim > 0)
    to.add("text_projection.weight", {x.projection_dim, width});
}

/// Reads the configuration as the network does, and adds its tensors.
core::result<void> expect(const component& x, tensor_table& to) {
  if (const auto* of = find_denoiser(x.class_name)) {
    return core::guarded("family", of->name, "expect",
                         [&] { return of->expect(x, to); });
  } else if (x.class_name.starts_with("Autoencoder")) {
    const auto config = read_autoencoder_config(x);
    if (!config)
      return config.why();
    if (config->kind == autoencoder_kind::kl)
      expect_vae(*config, to);
    else
      expect_tiny_vae(*config, to);
  } else if (x.class_name.starts_with("CLIPText")) {
    const auto config = read_clip_text_config(x);
    if (!config)
      return config.why();
    expect_text(*config, to);
  } else {
    return core::fail(ec::bad_config, "{}: _class_name: {} is not known here",
                      x.config_file, printable(x.class_name));
  }
  return {};
}

/// Returns the name of a text encoder's tensor with its prefix, which
/// transformers 5 omits for CLIPTextModel.
std::string with_prefix(const std::string& name) {
  return name.starts_with("embeddings.") || name.starts_with("encoder.layers.")
          || name.starts_with("final_layer_norm.")
         ? "text_model." + name
         : name;
}

} // namespace

core::result<expected_tensors> expect_tensors(const component& x, size_t most) {
  tensor_table out{most, {}};
  if (auto known = expect(x, out); !known)
    return known.why();
  if (out.full())
    return core::fail(ec::bad_config,
                      "{}: its numbers require more than {} "
                      "tensors",
                      x.config_file, most);
  return std::move(out.tensors);
}

core::result<std::vector<std::string>> compare_tensors(const component& x) {
  // Leaves room to name some missing tensors, in proportion to the existing
  // ones.
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
    // Older files store the position ids; a projection remains if a model with
    // one was reduced to one without.
    if (known == "text_model.embeddings.position_ids"
        || (known == "text_projection.weight"
            && x.class_name == "CLIPTextModel"))
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
