// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/network_fields.hpp>
#include <atelier/gpu/models/mmdit/mmdit_config.hpp>

#include <fmt/format.h>

namespace atelier::gpu {

namespace {

constexpr int64_t most_channels = 1 << 16;
constexpr int64_t most_layers = 1 << 10;
constexpr int64_t most_patch = 64;

} // namespace

core::result<mmdit_config> parse_mmdit_config(std::string_view text,
                                              const std::string& file) {
  detail::network_fields from{text, file};
  mmdit_config to;
  from.expect("_class_name", "SD3Transformer2DModel");
  from.ignore({"_diffusers_version", "_name_or_path", "_use_default_values"});
  to.sample_size =
    from.integer("sample_size", to.sample_size, 1, most_channels);
  to.patch_size = from.integer("patch_size", to.patch_size, 1, most_patch);
  to.channels = from.integer("in_channels", to.channels, 1, most_channels);
  to.layers = from.integer("num_layers", to.layers, 1, most_layers);
  to.heads = from.integer("num_attention_heads", to.heads, 1, most_channels);
  to.head_width =
    from.integer("attention_head_dim", to.head_width, 1, most_channels);
  to.text_width =
    from.integer("joint_attention_dim", to.text_width, 1, most_channels);
  to.pooled_width =
    from.integer("pooled_projection_dim", to.pooled_width, 1, most_channels);
  to.most_side =
    from.integer("pos_embed_max_size", to.most_side, 1, most_channels);
  const auto predicted =
    from.integer_or_null("out_channels", 1, most_channels).value_or(16);
  if (predicted != to.channels && !from.failed())
    from.refuse("out_channels", fmt::format("in_channels, {}", to.channels));
  // Text and image share the attention, so they have one width.
  const auto projected =
    from.integer("caption_projection_dim", 1152, 1, most_channels);
  if (projected != to.width() && !from.failed())
    from.refuse(
      "caption_projection_dim",
      fmt::format("num_attention_heads x attention_head_dim, {}", to.width()));
  if (to.sample_size % to.patch_size != 0
      || to.sample_size / to.patch_size > to.most_side)
    from.refuse("sample_size",
                fmt::format("a multiple of patch_size, {}, of at most {} "
                            "tokens (pos_embed_max_size)",
                            to.patch_size, to.most_side));
  from.expect("qk_norm");
  from.expect("dual_attention_layers", nlohmann::json::array());
  if (auto done = from.finish(); !done)
    return done.why();
  return to;
}

} // namespace atelier::gpu
