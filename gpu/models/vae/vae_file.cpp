// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/inferred_part.hpp>
#include <atelier/gpu/models/files/name_parts.hpp>
#include <atelier/gpu/models/files/part_folder.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/tensor_collection.hpp>
#include <atelier/gpu/models/vae/vae_file.hpp>

#include <fmt/format.h>

namespace atelier::gpu::detail {

namespace fs = std::filesystem;
using core::ec;

namespace {

constexpr std::array resnet_rules = {
  name_rule{"norm1", "norm1"},
  name_rule{"conv1", "conv1"},
  name_rule{"norm2", "norm2"},
  name_rule{"conv2", "conv2"},
  name_rule{"nin_shortcut", "conv_shortcut"},
};

constexpr std::array attention_rules = {
  name_rule{"norm", "group_norm"},
  name_rule{"q", "to_q"},
  name_rule{"k", "to_k"},
  name_rule{"v", "to_v"},
  name_rule{"proj_out", "to_out.0"},
};

constexpr std::array end_rules = {
  name_rule{"conv_in", "conv_in"},
  name_rule{"norm_out", "conv_norm_out"},
  name_rule{"conv_out", "conv_out"},
};

std::optional<std::string> put_before(std::string_view prefix,
                                      std::optional<std::string> name) {
  if (name)
    name->insert(0, prefix);
  return name;
}

/// Returns the new name for the part after "encoder." or "decoder.".
/// @param levels levels of the decoder, which diffusers counts from the other
///        end
std::optional<std::string> name_in_half(std::string_view name, bool decodes,
                                        size_t levels) {
  auto rest = name;
  const auto word = take_word(rest);
  if (word == "mid") {
    const auto block = take_word(rest);
    if (block == "block_1" || block == "block_2")
      return put_before(block == "block_1" ? "mid_block.resnets.0."
                                           : "mid_block.resnets.1.",
                        apply_rule(resnet_rules, rest));
    if (block == "attn_1")
      return put_before("mid_block.attentions.0.",
                        apply_rule(attention_rules, rest));
    return std::nullopt;
  }
  if (word != (decodes ? "up" : "down"))
    return apply_rule(end_rules, name);
  auto level = number_of(take_word(rest));
  if (!level || (decodes && *level >= levels))
    return std::nullopt;
  if (decodes)
    level = levels - 1 - *level;
  const auto block = fmt::format("{}_blocks.{}.", word, *level);
  const auto kind = take_word(rest);
  if (kind == "block")
    if (const auto layer = number_of(take_word(rest)))
      return put_before(fmt::format("{}resnets.{}.", block, *layer),
                        apply_rule(resnet_rules, rest));
  const auto sampler = decodes ? "upsample" : "downsample";
  if (kind == sampler && rest.starts_with("conv."))
    return fmt::format("{}{}rs.0.{}", block, sampler, rest);
  return std::nullopt;
}

std::optional<std::string> new_name(std::string_view name, size_t levels) {
  auto rest = name;
  const auto half = take_word(rest);
  if (half == "encoder" || half == "decoder")
    return put_before(half == "encoder" ? "encoder." : "decoder.",
                      name_in_half(rest, half == "decoder", levels));
  if (half == "quant_conv" || half == "post_quant_conv")
    return std::string{name};
  return std::nullopt;
}

/// Turns a 1x1 convolution into the equivalent matrix.
void flatten(tensor_view& x) {
  while (x.shape.size() > 2 && x.shape.back() == 1)
    x.shape.pop_back();
}

} // namespace

std::shared_ptr<const tensor_source> name_original_vae(
  const std::shared_ptr<const tensor_source>& from, std::string_view prefix,
  std::vector<std::string>& left_over) {
  auto out = std::make_shared<tensor_collection>(from->where());
  out->keep(from);
  const auto names = from->names();
  const auto levels =
    count_numbered(names, fmt::format("{}decoder.up.", prefix));
  for (const auto& name : names) {
    if (!name.starts_with(prefix))
      continue;
    auto fresh = new_name(std::string_view{name}.substr(prefix.size()), levels);
    auto view = *from->find(name);
    if (fresh && fresh->find(".attentions.") != std::string::npos)
      flatten(view);
    if (!fresh || !out->add(std::move(*fresh), view))
      left_over.push_back(name);
  }
  return out;
}

std::shared_ptr<const tensor_source> rename_old_attention(
  std::shared_ptr<const tensor_source> from) {
  constexpr std::array rules = {
    name_rule{"query", "to_q"},
    name_rule{"key", "to_k"},
    name_rule{"value", "to_v"},
    name_rule{"proj_attn", "to_out.0"},
  };
  constexpr std::string_view mark = "mid_block.attentions.0.";
  const auto renamed = [&](const std::string& name) {
    const auto at = name.find(mark);
    if (at == std::string::npos)
      return name;
    const auto end = at + mark.size();
    const auto fresh = apply_rule(rules, std::string_view{name}.substr(end));
    return fresh ? name.substr(0, end) + *fresh : name;
  };
  const auto names = from->names();
  bool old = false;
  for (const auto& name : names)
    old = old || renamed(name) != name;
  if (!old)
    return from;
  auto out = std::make_shared<tensor_collection>(from->where());
  out->keep(from);
  // A name that exists in both forms stays unchanged, and is reported as extra.
  for (const auto& name : names)
    if (!out->add(renamed(name), *from->find(name)))
      out->add(name, *from->find(name));
  return out;
}

core::result<json_object> infer_vae_config(const tensor_source& from,
                                           const vae_traits& traits) {
  tensor_shapes x{from};
  const auto levels = x.count("encoder.down_blocks.");
  if (levels == 0)
    x.fault("encoder.down_blocks.0.resnets.0.conv1.weight", "is missing");
  std::vector<json_object> channels;
  for (size_t i = 0; i < levels; ++i)
    channels.emplace_back(x.side(
      fmt::format("encoder.down_blocks.{}.resnets.0.conv1.weight", i), 0));
  json_object out{
    {"_class_name", "AutoencoderKL"},
    {"sample_size", traits.sample_size},
    {"in_channels", x.side("encoder.conv_in.weight", 1)},
    {"out_channels", x.side("decoder.conv_out.weight", 0)},
    {"down_block_types",
     std::vector<std::string>(levels, "DownEncoderBlock2D")},
    {"up_block_types", std::vector<std::string>(levels, "UpDecoderBlock2D")},
    {"block_out_channels", channels},
    {"layers_per_block", x.count("encoder.down_blocks.0.resnets.")},
    {"act_fn", "silu"},
    {"latent_channels", x.side("decoder.conv_in.weight", 1)},
    {"norm_num_groups", 32},
    {"scaling_factor", traits.scaling_factor}};
  if (traits.force_upcast)
    out["force_upcast"] = true;
  if (!x.has("quant_conv."))
    out["use_quant_conv"] = false;
  if (!x.has("post_quant_conv."))
    out["use_post_quant_conv"] = false;
  if (!x.has("encoder.mid_block.attentions."))
    out["mid_block_add_attention"] = false;
  if (x.why())
    return *x.why();
  return out;
}

std::optional<std::string_view> vae_prefix(
  const std::vector<std::string>& names) {
  for (const std::string_view x : {"first_stage_model.", "vae."})
    if (has_prefix(names, fmt::format("{}decoder.", x)))
      return x;
  return std::nullopt;
}

core::result<component> open_original_vae(
  const std::shared_ptr<const safetensors_file>& file, const fs::path& path,
  std::string_view prefix, const vae_traits& traits) {
  std::vector<std::string> left_over;
  auto weights = name_original_vae(file, prefix, left_over);
  // The discriminators that it was trained against are not needed.
  const auto loss = fmt::format("{}loss.", prefix);
  std::erase_if(left_over, [&](const std::string& x) {
    return x.starts_with(loss) || x == "vae_ema.decay";
  });
  if (auto ok = expect_none(path, "autoencoder", left_over); !ok)
    return ok.why();
  auto config = infer_vae_config(*weights, traits);
  if (!config)
    return config.why();
  return inferred_part(*config, std::move(weights), path, "AutoencoderKL");
}

core::result<component> open_vae_file(const fs::path& file,
                                      const vae_traits& traits) {
  const auto opened = safetensors_file::open(file);
  if (!opened)
    return opened.why();
  const auto names = (*opened)->names();
  if (const auto prefix = vae_prefix(names))
    return open_original_vae(*opened, file, *prefix, traits);
  if (has_prefix(names, "decoder.up."))
    return open_original_vae(*opened, file, {}, traits);
  if (has_prefix(names, "decoder.layers."))
    return bad_file(file,
                    "an AutoencoderTiny needs its config.json beside it: name "
                    "the folder");
  if (!has_prefix(names, "decoder.up_blocks."))
    return bad_file(file, "it holds no autoencoder: no tensor decoder.up... or "
                          "decoder.up_blocks...");
  const auto weights = rename_old_attention(*opened);
  auto config = infer_vae_config(*weights, traits);
  if (!config)
    return config.why();
  return inferred_part(*config, weights, file, "AutoencoderKL");
}

core::result<component> open_vae_part(const fs::path& folder,
                                      std::string_view class_name,
                                      std::string_view variant) {
  auto out = open_diffusers_part(folder, class_name, variant);
  if (out && out->class_name == "AutoencoderKL")
    out->weights = rename_old_attention(std::move(out->weights));
  return out;
}

core::result<component> open_vae_folder(const fs::path& folder,
                                        std::string_view variant) {
  const auto part = is_there(folder / "config.json") ? folder : folder / "vae";
  if (!is_there(part / "config.json"))
    return core::fail(ec::not_found,
                      "{}: no autoencoder was found: neither config.json nor "
                      "vae/config.json",
                      folder.string());
  auto out = open_vae_part(part, {}, variant);
  if (out && out->class_name != "AutoencoderKL"
      && out->class_name != "AutoencoderTiny")
    return core::fail(ec::bad_payload,
                      "{}: _class_name: {} is not supported as an autoencoder; "
                      "these are: AutoencoderKL, AutoencoderTiny",
                      out->config_file, printable(out->class_name));
  return out;
}

} // namespace atelier::gpu::detail
