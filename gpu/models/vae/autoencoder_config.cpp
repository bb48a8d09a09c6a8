// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/network_fields.hpp>
#include <atelier/gpu/models/files/tensor_table.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <algorithm>

namespace atelier::gpu {

namespace {

constexpr int64_t widest = 1 << 16;
constexpr size_t most_resolutions = 8;
constexpr int64_t most_layers = 256;
// Larger scales than any published model has are mistakes.
constexpr double most_scale = 1e6;

autoencoder_activation activation_of(std::string_view name) {
  if (name == "relu")
    return autoencoder_activation::relu;
  if (name == "gelu")
    return autoencoder_activation::gelu;
  if (name == "mish")
    return autoencoder_activation::mish;
  return autoencoder_activation::silu;
}

void read_common(detail::network_fields& in, autoencoder_config& out) {
  in.expect("in_channels", 3);
  in.expect("out_channels", 3);
  out.latent_channels =
    in.integer("latent_channels", out.latent_channels, 1, 1024);
  out.activation = activation_of(
    in.text("act_fn", out.kind == autoencoder_kind::kl ? "silu" : "relu",
            {"silu", "swish", "relu", "gelu", "mish"}));
  out.scaling_factor =
    in.number("scaling_factor", out.scaling_factor, 0.0, most_scale);
  if (!(out.scaling_factor > 0))
    in.refuse("scaling_factor", "above 0");
  out.shift_factor =
    in.number_or_null("shift_factor", -most_scale, most_scale).value_or(0.0);
  if (in.has("force_upcast"))
    out.force_upcast = in.flag("force_upcast", true);
  in.ignore({"_class_name", "_diffusers_version", "_name_or_path",
             "_use_default_values"});
}

// SDXL-style files have a mean and a deviation for each channel.
void read_statistics(detail::network_fields& in, autoencoder_config& out) {
  out.latents_mean = in.numbers_or_null("latents_mean", 1024);
  out.latents_std = in.numbers_or_null("latents_std", 1024);
  if (out.latents_mean.empty() && out.latents_std.empty())
    return;
  const auto count = static_cast<size_t>(out.latent_channels);
  const auto wanted = fmt::format("a list of {} numbers, because latents_mean "
                                  "and latents_std need each other",
                                  count);
  if (out.latents_mean.size() != count)
    in.refuse("latents_mean", wanted);
  if (out.latents_std.size() != count)
    in.refuse("latents_std", wanted);
  if (std::any_of(out.latents_std.begin(), out.latents_std.end(),
                  [](double x) { return !(x > 0); }))
    in.refuse("latents_std", "a list of numbers above 0");
  if (out.shift_factor != 0)
    in.refuse("shift_factor", "0 if latents_mean is set");
}

// Reads an integer, or height and width, of which diffusers uses the first.
int64_t read_sample_size(detail::network_fields& in, int64_t otherwise) {
  constexpr int64_t most = 1 << 16;
  if (in.is_list("sample_size"))
    return in.integers("sample_size", {otherwise}, 1, most, 2).front();
  return in.integer("sample_size", otherwise, 1, most);
}

void read_kl(detail::network_fields& in, autoencoder_config& out) {
  read_common(in, out);
  read_statistics(in, out);
  out.block_out_channels = in.integers(
    "block_out_channels", out.block_out_channels, 1, widest, most_resolutions);
  const auto resolutions = out.block_out_channels.size();
  const auto wanted =
    fmt::format("as many as block_out_channels has, which is {}", resolutions);
  if (in.texts("down_block_types", {"DownEncoderBlock2D"},
               {"DownEncoderBlock2D"}, most_resolutions)
        .size()
      != resolutions)
    in.refuse("down_block_types", wanted);
  if (in.texts("up_block_types", {"UpDecoderBlock2D"}, {"UpDecoderBlock2D"},
               most_resolutions)
        .size()
      != resolutions)
    in.refuse("up_block_types", wanted);
  out.layers_per_block =
    in.integer("layers_per_block", out.layers_per_block, 1, most_layers);
  out.norm_num_groups =
    in.integer("norm_num_groups", out.norm_num_groups, 1, widest);
  for (const auto channels : out.block_out_channels)
    if (channels % out.norm_num_groups != 0)
      in.refuse("norm_num_groups",
                fmt::format("a divisor of {} in block_out_channels", channels));
  out.sample_size = read_sample_size(in, out.sample_size);
  out.use_quant_conv = in.flag("use_quant_conv", out.use_quant_conv);
  out.use_post_quant_conv =
    in.flag("use_post_quant_conv", out.use_post_quant_conv);
  out.mid_block_add_attention =
    in.flag("mid_block_add_attention", out.mid_block_add_attention);
}

// Reads the width of a tiny coder, which all of its convolutions keep.
int64_t read_width(detail::network_fields& in, std::string_view key,
                   size_t count) {
  const auto all =
    in.integers(key, {64, 64, 64, 64}, 1, widest, most_resolutions);
  if (std::any_of(all.begin(), all.end(),
                  [&](int64_t x) { return x != all.front(); }))
    in.refuse(key, "the same number in all places");
  if (all.size() != count)
    in.refuse(key,
              fmt::format("a list of {} numbers, one for each block", count));
  return all.front();
}

void read_tiny(detail::network_fields& in, autoencoder_config& out) {
  out.scaling_factor = 1.0;
  read_common(in, out);
  out.force_upcast = out.force_upcast.value_or(false);
  out.num_encoder_blocks =
    in.integers("num_encoder_blocks", out.num_encoder_blocks, 0, most_layers,
                most_resolutions);
  out.num_decoder_blocks =
    in.integers("num_decoder_blocks", out.num_decoder_blocks, 0, most_layers,
                most_resolutions);
  out.encoder_channels =
    read_width(in, "encoder_block_out_channels", out.num_encoder_blocks.size());
  out.decoder_channels =
    read_width(in, "decoder_block_out_channels", out.num_decoder_blocks.size());
  if (out.num_encoder_blocks.size() != out.num_decoder_blocks.size())
    in.refuse("num_encoder_blocks", "a list as long as num_decoder_blocks");
  in.expect("upsampling_scaling_factor", 2);
  in.expect("upsample_fn", "nearest");
  // A repetition of decoder_block_out_channels, and keys that only the 8-bit
  // form of latents needs.
  in.ignore({"block_out_channels", "latent_magnitude", "latent_shift"});
}

/// Adds a half of AutoencoderKL. `channels` is in the order of its blocks.
void add_half(detail::tensor_table& to, const std::string& half,
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

void expect_kl(const autoencoder_config& x, detail::tensor_table& to) {
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
void add_tiny_blocks(detail::tensor_table& to, const std::string& half,
                     size_t& index, int64_t count, int64_t width) {
  for (int64_t i = 0; i < count && !to.full(); ++i, ++index)
    for (const auto* conv : {"conv.0", "conv.2", "conv.4"})
      to.add_conv(fmt::format("{}.layers.{}.{}", half, index, conv), width,
                  width, 3);
}

void expect_tiny(const autoencoder_config& x, detail::tensor_table& to) {
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

} // namespace

uint32_t autoencoder_config::factor() const {
  const auto resolutions = kind == autoencoder_kind::kl
                           ? block_out_channels.size()
                           : num_decoder_blocks.size();
  return uint32_t{1} << (resolutions - 1);
}

core::result<autoencoder_config> read_autoencoder_config(
  const component& from) {
  detail::network_fields in{from.config, from.config_file};
  auto class_name = from.class_name;
  if (in.has("_class_name") && class_name.empty())
    class_name = in.text("_class_name", "AutoencoderKL",
                         {"AutoencoderKL", "AutoencoderTiny"});
  if (class_name.empty())
    class_name = "AutoencoderKL";
  autoencoder_config out;
  if (class_name == "AutoencoderKL") {
    read_kl(in, out);
  } else if (class_name == "AutoencoderTiny") {
    out.kind = autoencoder_kind::tiny;
    read_tiny(in, out);
  } else {
    return core::fail(core::ec::bad_config,
                      "{}: autoencoder of class {}, not AutoencoderKL or "
                      "AutoencoderTiny",
                      from.config_file, class_name);
  }
  if (const auto fine = in.finish(); !fine)
    return fine.why();
  return out;
}

void expect_autoencoder(const autoencoder_config& config,
                        detail::tensor_table& to) {
  if (config.kind == autoencoder_kind::kl)
    expect_kl(config, to);
  else
    expect_tiny(config, to);
}

} // namespace atelier::gpu
