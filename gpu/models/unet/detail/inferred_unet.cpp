// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/unet/detail/inferred_unet.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

namespace {

/// Returns the list, or its single value if all are equal.
json_object folded(const std::vector<json_object>& list) {
  const bool equal =
    !list.empty() && std::all_of(list.begin(), list.end(), [&](const auto& x) {
      return x == list.front();
    });
  return equal ? list.front() : json_object(list);
}

/// Infers the blocks of a denoiser.
class unet_shapes {
public:
  explicit unet_shapes(const tensor_source& from) : x_(from) {}

  core::result<json_object> config(const unet_traits& traits) {
    const auto levels = x_.count("down_blocks.");
    if (levels == 0)
      x_.fault("down_blocks.0.resnets.0.conv1.weight", "is missing");
    if (levels != x_.count("up_blocks."))
      x_.fault("up_blocks.",
               fmt::format("are not {} blocks as down_blocks.", levels));
    std::vector<json_object> channels;
    std::vector<json_object> layers;
    std::vector<json_object> heads;
    json_object down = json_object::array();
    json_object up = json_object::array();
    for (size_t i = 0; i < levels; ++i) {
      const auto block = fmt::format("down_blocks.{}.", i);
      const auto width = x_.side(block + "resnets.0.conv1.weight", 0);
      channels.emplace_back(width);
      layers.emplace_back(x_.count(block + "resnets."));
      heads.push_back(heads_of(block, width));
      const bool attends = x_.has(block + "attentions.");
      down.push_back(attends ? "CrossAttnDownBlock2D" : "DownBlock2D");
      up.push_back(x_.has(fmt::format("up_blocks.{}.attentions.", i))
                     ? "CrossAttnUpBlock2D"
                     : "UpBlock2D");
    }
    json_object out{{"_class_name", "UNet2DConditionModel"},
                    {"sample_size", traits.sample_size},
                    {"in_channels", x_.side("conv_in.weight", 1)},
                    {"out_channels", x_.side("conv_out.weight", 0)},
                    {"center_input_sample", false},
                    {"flip_sin_to_cos", true},
                    {"freq_shift", 0},
                    {"down_block_types", std::move(down)},
                    {"mid_block_type", middle()},
                    {"up_block_types", std::move(up)},
                    {"only_cross_attention", false},
                    {"block_out_channels", channels},
                    {"layers_per_block", folded(layers)},
                    {"downsample_padding", 1},
                    {"mid_block_scale_factor", 1},
                    {"act_fn", "silu"},
                    {"norm_num_groups", 32},
                    {"norm_eps", 1e-5}};
    add_attention(out, levels);
    // Convolutions have eight heads, linear projections heads of 64.
    out["attention_head_dim"] = linear_ ? folded(heads) : json_object(8);
    out["use_linear_projection"] = linear_;
    out["upcast_attention"] = traits.upcast_attention;
    add_embeddings(out, channels);
    if (x_.why())
      return *x_.why();
    return out;
  }

private:
  json_object heads_of(const std::string& block, int64_t width) {
    const auto attention = block + "attentions.0.";
    if (x_.has(attention) && !seen_) {
      seen_ = true;
      linear_ = x_.axes(attention + "proj_in.weight") == 2;
      context_ =
        x_.side(attention + "transformer_blocks.0.attn2.to_k.weight", 1);
    }
    if (x_.has(attention) && linear_ && width % head_width != 0)
      x_.fault(attention + "proj_in.weight",
               fmt::format("of width {} cannot be split into heads of {}",
                           width, head_width));
    return std::max<int64_t>(1, width / head_width);
  }

  json_object middle() const {
    if (x_.has("mid_block.attentions."))
      return "UNetMidBlock2DCrossAttn";
    if (x_.has("mid_block."))
      return "UNetMidBlock2D";
    return nullptr;
  }

  /// Returns the number of transformer blocks of each attention in a block.
  json_object depth_of(const std::string& block) const {
    std::vector<json_object> out;
    const auto attentions = x_.count(block + "attentions.");
    for (size_t j = 0; j < attentions; ++j)
      out.emplace_back(
        x_.count(fmt::format("{}attentions.{}.transformer_blocks.", block, j)));
    return folded(out);
  }

  void add_attention(json_object& out, size_t levels) {
    const auto middle = depth_of("mid_block.");
    std::vector<json_object> down;
    std::vector<json_object> up;
    bool mirrored = true;
    for (size_t i = 0; i < levels; ++i) {
      auto depth = depth_of(fmt::format("down_blocks.{}.", i));
      const bool attends = !depth.is_array() || !depth.empty();
      mirrored = mirrored && !(attends && depth.is_array());
      // A level without attention has no depth of its own; that of the last one
      // is also the middle's.
      if (!attends)
        depth = i + 1 == levels && !middle.is_array() ? middle : json_object(1);
      down.push_back(std::move(depth));
      up.push_back(depth_of(fmt::format("up_blocks.{}.", i)));
    }
    for (size_t i = 0; i < up.size(); ++i) {
      auto& depth = up[i];
      if (depth.is_array() && depth.empty())
        depth = down[levels - 1 - i];
      mirrored = mirrored && depth == down[levels - 1 - i];
    }
    if (!middle.is_array() && !down.empty() && middle != down.back())
      x_.fault("mid_block.attentions.0.",
               "has another number of transformer blocks than the last of "
               "down_blocks.");
    if (!context_.is_null())
      out["cross_attention_dim"] = context_;
    out["transformer_layers_per_block"] = folded_but_unsaid(down);
    if (!mirrored)
      out["reverse_transformer_layers_per_block"] = up;
  }

  /// Returns `down` as one value if levels with attention have the same. Levels
  /// without attention may have any number.
  json_object folded_but_unsaid(const std::vector<json_object>& down) const {
    json_object said;
    for (size_t i = 0; i < down.size(); ++i) {
      if (!x_.has(fmt::format("down_blocks.{}.attentions.", i)))
        continue;
      if (said.is_null())
        said = down[i];
      if (said != down[i])
        return down;
    }
    const bool one = !said.is_null() && !said.is_array()
                  && (!x_.has("mid_block.attentions.") || said == down.back());
    return one ? said : json_object(down);
  }

  void add_embeddings(json_object& out,
                      const std::vector<json_object>& channels) {
    const auto wide = x_.side("time_embedding.linear_1.weight", 0);
    if (!channels.empty() && wide != 4 * channels.front().get<int64_t>())
      out["time_embedding_dim"] = wide;
    if (x_.has("time_embedding.cond_proj."))
      out["time_cond_proj_dim"] = x_.side("time_embedding.cond_proj.weight", 1);
    if (!x_.has("add_embedding."))
      return;
    out["addition_embed_type"] = "text_time";
    out["addition_time_embed_dim"] = 256;
    out["projection_class_embeddings_input_dim"] =
      x_.side("add_embedding.linear_1.weight", 1);
  }

  tensor_shapes x_;
  bool seen_ = false;
  bool linear_ = false;
  json_object context_;
};

} // namespace

core::result<json_object> infer_unet_config(const tensor_source& from,
                                            const unet_traits& traits) {
  return unet_shapes{from}.config(traits);
}

const model_pipeline& pipeline_of_unet(const nlohmann::json& config) {
  const auto number = [&](const char* key) {
    const auto i = config.find(key);
    return i != config.end() && i->is_number_integer() ? i->get<int64_t>() : 0;
  };
  if (text_at(config, "addition_embed_type") == "text_time") {
    // The refiner's context is only the second encoder's, whose width also
    // remains after subtracting its five numbers.
    const auto context = number("cross_attention_dim");
    const auto numbers = 5 * number("addition_time_embed_dim");
    return context + numbers == number("projection_class_embeddings_input_dim")
           ? stable_diffusion_xl_refiner
           : stable_diffusion_xl;
  }
  return number("time_cond_proj_dim") > 0 ? latent_consistency
                                          : stable_diffusion;
}

} // namespace atelier::gpu::detail
