// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/network_fields.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace atelier::gpu {

namespace {

using detail::network_fields;
using json = nlohmann::json;

// Far above every published model, and below what could exhaust resources.
constexpr int64_t most_channels = 16'384;
constexpr int64_t most_layers = 64;
constexpr int64_t most_levels = 16;

// The transformer blocks of one level: one number for all its layers, or one
// for each.
using block_counts = std::vector<int64_t>;

// Reads a key whose value is one integer for all levels or a list with one for
// each.
std::vector<int64_t> per_level(network_fields& from, std::string_view key,
                               int64_t fallback, size_t levels, int64_t most) {
  std::vector<int64_t> out(levels, fallback);
  const auto* x = from.take(key);
  if (x == nullptr)
    return out;
  if (x->is_array() && x->size() == levels) {
    for (size_t i = 0; i < levels; ++i) {
      const auto value = detail::as_integer((*x)[i]);
      if (!value || *value < 1 || *value > most) {
        from.refuse(key, fmt::format("whole numbers in 1..{}", most));
        return out;
      }
      out[i] = *value;
    }
    return out;
  }
  const auto value = detail::as_integer(*x);
  if (value && *value >= 1 && *value <= most)
    std::fill(out.begin(), out.end(), *value);
  else
    from.refuse(key, fmt::format("a whole number in 1..{}, or a list of {}",
                                 most, levels));
  return out;
}

// Reads transformer_layers_per_block or its reverse: a number, or for each
// level a number or a list of them. Returns an empty list if the key is
// missing.
std::vector<block_counts> transformer_layers(network_fields& from,
                                             std::string_view key,
                                             size_t levels) {
  const auto* x = from.take(key);
  if (x == nullptr || x->is_null())
    return {};
  const auto count = [](const json& of) -> std::optional<int64_t> {
    const auto value = detail::as_integer(of);
    return value && *value >= 0 && *value <= most_layers ? value : std::nullopt;
  };
  std::vector<block_counts> out;
  if (const auto value = count(*x))
    return std::vector<block_counts>(levels, {*value});
  auto fits = x->is_array() && x->size() == levels;
  for (size_t i = 0; fits && i < levels; ++i) {
    const auto& level = (*x)[i];
    block_counts counts;
    const auto take = [&](const json& of) {
      const auto value = count(of);
      fits = fits && value.has_value();
      counts.push_back(value.value_or(0));
    };
    if (level.is_array() && !level.empty()) {
      for (const auto& layer : level)
        take(layer);
    } else {
      take(level);
    }
    out.push_back(std::move(counts));
  }
  if (fits)
    return out;
  from.refuse(key,
              fmt::format("a whole number in 0..{}, or {} of them or of lists "
                          "of them",
                          most_layers, levels));
  return {};
}

// Reads down_block_types or up_block_types. Returns whether each level has
// attention.
std::vector<bool> block_types(network_fields& from, std::string_view key,
                              std::string_view plain, std::string_view attends,
                              std::vector<bool> fallback) {
  const auto* x = from.take(key);
  if (x == nullptr)
    return fallback;
  std::vector<bool> out;
  if (x->is_array() && !x->empty() && x->size() <= most_levels)
    for (const auto& name : *x) {
      if (name == attends)
        out.push_back(true);
      else if (name == plain)
        out.push_back(false);
    }
  if (x->is_array() && !out.empty() && out.size() == x->size())
    return out;
  from.refuse(key, fmt::format("a list of 1 to {} of {} or {}", most_levels,
                               plain, attends));
  return fallback;
}

std::vector<bool> only_cross_attention(network_fields& from, size_t levels) {
  std::vector<bool> out(levels, false);
  const auto* x = from.take("only_cross_attention");
  if (x == nullptr)
    return out;
  if (x->is_boolean())
    return std::vector<bool>(levels, x->get<bool>());
  auto fits = x->is_array() && x->size() == levels;
  for (size_t i = 0; fits && i < levels; ++i) {
    fits = (*x)[i].is_boolean();
    out[i] = fits && (*x)[i].get<bool>();
  }
  if (!fits)
    from.refuse("only_cross_attention",
                fmt::format("true or false, or {} of them", levels));
  return out;
}

std::vector<int64_t> channels(network_fields& from, size_t levels,
                              int64_t groups) {
  const auto* given = from.take("block_out_channels");
  const auto x = given == nullptr ? json{320, 640, 1280, 1280} : *given;
  std::vector<int64_t> out(levels, groups);
  auto fits = x.is_array() && x.size() == levels;
  for (size_t i = 0; fits && i < levels; ++i) {
    const auto value = detail::as_integer(x[i]);
    fits =
      value && *value > 0 && *value <= most_channels && *value % groups == 0;
    out[i] = fits ? *value : groups;
  }
  if (!fits)
    from.refuse("block_out_channels",
                fmt::format("{} whole numbers in 1..{}, multiples of "
                            "norm_num_groups = {}",
                            levels, most_channels, groups));
  return out;
}

// Returns one width for all levels, which attend to the same context.
int64_t context_width(network_fields& from, size_t levels) {
  const auto widths =
    per_level(from, "cross_attention_dim", 1280, levels, most_channels);
  if (std::ranges::count(widths, widths.front())
      != static_cast<int64_t>(widths.size()))
    from.refuse("cross_attention_dim", "the same number for every level");
  return widths.front();
}

int64_t odd_kernel(network_fields& from, std::string_view key) {
  const auto side = from.integer(key, 3, 1, 15);
  if (side % 2 == 0)
    from.refuse(key, "an odd number in 1..15");
  return side;
}

void read_embeddings(network_fields& from, unet_config& to, int64_t width) {
  to.flip_sin_to_cos = from.flag("flip_sin_to_cos", true);
  to.freq_shift = from.number("freq_shift", 0, -1, 1);
  const auto half = width / 2;
  if (static_cast<double>(half) - to.freq_shift <= 0)
    from.refuse("freq_shift", "less than half of block_out_channels[0]");
  to.time_embedding_dim =
    from.integer_or_null("time_embedding_dim", 1, most_channels)
      .value_or(width * 4);
  // With fewer, the embedding of the guidance has one frequency, and the steps
  // between frequencies are not numbers.
  to.time_cond_proj_dim =
    from.integer_or_null("time_cond_proj_dim", 4, most_channels);
  from.expect("time_embedding_type", "positional");
  from.expect("time_embedding_act_fn");
  from.expect("timestep_post_act");
  from.expect("class_embed_type");
  from.expect("num_class_embeds");
  from.expect("class_embeddings_concat", false);

  const auto type = from.text_or_null("encoder_hid_dim_type", {"text_proj"});
  to.encoder_hid_dim =
    from.integer_or_null("encoder_hid_dim", 1, most_channels);
  if (type && !to.encoder_hid_dim && !from.failed())
    from.refuse("encoder_hid_dim",
                "a whole number where encoder_hid_dim_type is given");

  const auto addition =
    from.text_or_null("addition_embed_type", {"text", "text_time"});
  to.addition_heads =
    from.integer("addition_embed_type_num_heads", 64, 1, most_channels);
  const auto time_dim =
    from.integer_or_null("addition_time_embed_dim", 2, most_channels);
  const auto input_dim = from.integer_or_null(
    "projection_class_embeddings_input_dim", 1, most_channels * 4);
  if (addition == "text") {
    to.addition = unet_addition::text;
    const auto pooled = to.encoder_hid_dim.value_or(to.cross_attention_dim);
    if (pooled % to.addition_heads != 0)
      from.refuse("addition_embed_type_num_heads",
                  fmt::format("a divisor of {}", pooled));
  } else if (addition == "text_time") {
    to.addition = unet_addition::text_time;
    if (!time_dim)
      from.refuse("addition_time_embed_dim",
                  "a whole number where addition_embed_type is text_time");
    if (!input_dim)
      from.refuse("projection_class_embeddings_input_dim",
                  "a whole number where addition_embed_type is text_time");
    to.addition_time_dim = time_dim.value_or(2);
    to.addition_input_dim = input_dim.value_or(1);
  } else if (input_dim) {
    from.refuse("projection_class_embeddings_input_dim",
                "null where addition_embed_type is not text_time");
  }
}

// The properties of a level's transformers, except its channels.
struct level_facts {
  std::string_view layers_key;
  bool attends;
  int64_t layers;
  int64_t heads;
  bool only_cross;
  block_counts blocks;
};

unet_level build_level(network_fields& from, const level_facts& facts,
                       int64_t width) {
  unet_level out;
  out.channels = width;
  const auto layers = static_cast<size_t>(facts.layers);
  out.layers.resize(layers);
  if (!facts.attends)
    return out;
  out.heads = facts.heads;
  out.only_cross_attention = facts.only_cross;
  if (width % facts.heads != 0)
    from.refuse("attention_head_dim",
                fmt::format("the number of heads, a divisor of the level's {} "
                            "channels",
                            width));
  if (facts.blocks.size() != 1 && facts.blocks.size() < layers) {
    from.refuse(
      facts.layers_key,
      fmt::format("{} numbers for a level of {} layers", layers, layers));
    return out;
  }
  for (size_t i = 0; i < layers; ++i)
    out.layers[i] =
      facts.blocks.size() == 1 ? facts.blocks[0] : facts.blocks[i];
  return out;
}

void read_levels(network_fields& from, unet_config& to,
                 const std::vector<int64_t>& widths,
                 const std::vector<bool>& down, const std::vector<bool>& up) {
  constexpr std::string_view forward_key = "transformer_layers_per_block";
  constexpr std::string_view reverse_key =
    "reverse_transformer_layers_per_block";
  const auto levels = widths.size();
  const auto layers =
    per_level(from, "layers_per_block", 2, levels, most_layers);
  const auto heads =
    per_level(from, "attention_head_dim", 8, levels, most_channels);
  from.expect("num_attention_heads");
  const auto only_cross = only_cross_attention(from, levels);
  auto blocks = transformer_layers(from, forward_key, levels);
  if (blocks.empty())
    blocks.assign(levels, {1});
  auto reversed = transformer_layers(from, reverse_key, levels);
  if (reversed.empty()) {
    reversed.assign(blocks.rbegin(), blocks.rend());
    const auto uneven = std::ranges::any_of(
      blocks, [](const block_counts& x) { return x.size() > 1; });
    if (uneven)
      from.refuse(reverse_key,
                  "a list where transformer_layers_per_block holds lists");
  }
  for (size_t i = 0; i < levels; ++i)
    to.down.push_back(build_level(
      from,
      {forward_key, down[i], layers[i], heads[i], only_cross[i], blocks[i]},
      widths[i]));
  for (size_t i = 0; i < levels; ++i) {
    const auto j = levels - 1 - i;
    to.up.push_back(build_level(
      from,
      {reverse_key, up[i], layers[j] + 1, heads[j], only_cross[j], reversed[i]},
      widths[j]));
  }
  to.middle_heads = heads.back();
  to.middle_transformer_blocks = blocks.back().front();
  if (to.middle == unet_middle::cross_attention
      && widths.back() % heads.back() != 0)
    from.refuse("attention_head_dim",
                fmt::format("the number of heads, a divisor of the middle's {} "
                            "channels",
                            widths.back()));
}

unet_middle middle(network_fields& from, bool absent) {
  const auto type = from.text_or_null(
    "mid_block_type", {"UNetMidBlock2DCrossAttn", "UNetMidBlock2D"});
  if (!type)
    return absent ? unet_middle::cross_attention : unet_middle::none;
  return *type == "UNetMidBlock2D" ? unet_middle::resnet
                                   : unet_middle::cross_attention;
}

} // namespace

core::result<unet_config> parse_unet_config(std::string_view text,
                                            const std::string& file) {
  network_fields from{text, file};
  unet_config to;
  from.expect("_class_name", "UNet2DConditionModel");
  from.ignore({"_diffusers_version", "_name_or_path", "_use_default_values"});
  to.in_channels = from.integer("in_channels", 4, 1, most_channels);
  to.out_channels = from.integer("out_channels", 4, 1, most_channels);
  if (const auto* x = from.take("sample_size"); x != nullptr && x->is_array()) {
    if (x->size() != 2 || (*x)[0] != (*x)[1] || !detail::as_integer((*x)[0]))
      from.refuse("sample_size", "one side, or twice the same");
    else
      to.sample_size = detail::as_integer((*x)[0]);
  } else {
    to.sample_size = from.integer_or_null("sample_size", 1, most_channels);
  }
  to.center_input_sample = from.flag("center_input_sample", false);
  to.conv_in_kernel = odd_kernel(from, "conv_in_kernel");
  to.conv_out_kernel = odd_kernel(from, "conv_out_kernel");
  to.norm_groups = from.integer("norm_num_groups", 32, 1, most_channels);
  to.norm_eps = from.number("norm_eps", 1e-5, 1e-12, 1);
  to.downsample_padding = from.integer("downsample_padding", 1, 0, 1);
  to.middle_scale = from.number("mid_block_scale_factor", 1, 1e-6, 1e6);
  // These keys have no effect on what this network computes, or none outside
  // training.
  from.ignore(
    {"dropout", "upcast_attention", "mid_block_only_cross_attention"});
  from.expect("dual_cross_attention", false);
  from.expect("resnet_skip_time_act", false);
  from.expect("resnet_out_scale_factor", 1.0);
  from.expect("cross_attention_norm");
  from.expect("attention_type", "default");
  from.text("act_fn", "silu", {"silu", "swish"});
  to.time_scale_shift =
    from.text("resnet_time_scale_shift", "default", {"default", "scale_shift"})
    == "scale_shift";
  to.use_linear_projection = from.flag("use_linear_projection", false);

  const auto down =
    block_types(from, "down_block_types", "DownBlock2D", "CrossAttnDownBlock2D",
                {true, true, true, false});
  const auto up = block_types(from, "up_block_types", "UpBlock2D",
                              "CrossAttnUpBlock2D", {false, true, true, true});
  if (up.size() != down.size())
    from.refuse("up_block_types",
                fmt::format("as many as down_block_types, {}", down.size()));
  to.middle = middle(from, !from.has("mid_block_type"));
  to.cross_attention_dim = context_width(from, down.size());
  const auto widths = channels(from, down.size(), to.norm_groups);
  read_embeddings(from, to, widths.front());
  if (!from.failed())
    read_levels(from, to, widths, down, up);
  if (auto done = from.finish(); !done)
    return done.why();
  return to;
}

} // namespace atelier::gpu
