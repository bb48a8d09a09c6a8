// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/expected_unet.hpp>
#include <atelier/gpu/models/detail/printable.hpp>

#include <fmt/format.h>

#include <utility>

namespace atelier::gpu::detail {

namespace {

/// What all blocks have in common.
struct unet_plan {
  std::vector<int64_t> channels;
  std::vector<int64_t> layers;
  /// Transformer blocks of each attention, by level.
  std::vector<int64_t> depths;
  std::vector<bool> attends_down;
  std::vector<bool> attends_up;
  int64_t time = 0;
  int64_t context = 0;
  bool linear = false;
};

void add_transformer(tensor_table& to, const std::string& name, int64_t width,
                     int64_t context) {
  for (const auto* x : {"norm1", "norm2", "norm3"})
    to.add_norm(fmt::format("{}.{}", name, x), width);
  for (const auto& [attention, seen] : {std::pair{name + ".attn1.", width},
                                        std::pair{name + ".attn2.", context}}) {
    to.add(attention + "to_q.weight", {width, width});
    to.add(attention + "to_k.weight", {width, seen});
    to.add(attention + "to_v.weight", {width, seen});
    to.add_linear(attention + "to_out.0", width, width);
  }
  // The gate doubles the inner width.
  to.add_linear(name + ".ff.net.0.proj", width, 8 * width);
  to.add_linear(name + ".ff.net.2", 4 * width, width);
}

void add_attention(tensor_table& to, const std::string& name,
                   const unet_plan& plan, int64_t width, int64_t depth) {
  to.add_norm(name + ".norm", width);
  for (const auto* x : {".proj_in", ".proj_out"})
    if (plan.linear)
      to.add_linear(name + x, width, width);
    else
      to.add_conv(name + x, width, width, 1);
  for (int64_t i = 0; i < depth && !to.full(); ++i)
    add_transformer(to, fmt::format("{}.transformer_blocks.{}", name, i), width,
                    plan.context);
}

// What is added to the time's embedding, from the context.
void add_pooling(tensor_table& to, const unet_plan& plan) {
  const std::string name = "add_embedding.";
  to.add_norm(name + "norm1", plan.context);
  to.add(name + "pool.positional_embedding", {1, plan.context});
  for (const auto* x : {"k_proj", "q_proj", "v_proj"})
    to.add_linear(name + "pool." + x, plan.context, plan.context);
  to.add_linear(name + "proj", plan.context, plan.time);
  to.add_norm(name + "norm2", plan.time);
}

void add_down(tensor_table& to, const unet_plan& plan) {
  auto width = plan.channels.front();
  for (size_t i = 0; i < plan.channels.size(); ++i) {
    const auto block = fmt::format("down_blocks.{}.", i);
    for (int64_t j = 0; j < plan.layers[i] && !to.full(); ++j) {
      to.add_resnet(fmt::format("{}resnets.{}", block, j), width,
                    plan.channels[i], plan.time);
      width = plan.channels[i];
      if (plan.attends_down[i])
        add_attention(to, fmt::format("{}attentions.{}", block, j), plan, width,
                      plan.depths[i]);
    }
    if (i + 1 < plan.channels.size())
      to.add_conv(block + "downsamplers.0.conv", width, width, 3);
  }
}

void add_up(tensor_table& to, const unet_plan& plan) {
  const auto levels = plan.channels.size();
  auto width = plan.channels.back();
  for (size_t i = 0; i < levels; ++i) {
    const auto level = levels - 1 - i;
    const auto out = plan.channels[level];
    const auto below = plan.channels[level == 0 ? 0 : level - 1];
    const auto block = fmt::format("up_blocks.{}.", i);
    for (int64_t j = 0; j <= plan.layers[level] && !to.full(); ++j) {
      // What the way down left at the same place comes in beside.
      const auto beside = j == plan.layers[level] ? below : out;
      to.add_resnet(fmt::format("{}resnets.{}", block, j), width + beside, out,
                    plan.time);
      width = out;
      if (plan.attends_up[i])
        add_attention(to, fmt::format("{}attentions.{}", block, j), plan, width,
                      plan.depths[level]);
    }
    if (i + 1 < levels)
      to.add_conv(block + "upsamplers.0.conv", width, width, 3);
  }
}

std::vector<bool> read_types(config_reader& x, const char* key,
                             const std::string& with,
                             const std::string& without, size_t levels) {
  std::vector<bool> out;
  for (const auto& kind : x.words(key)) {
    if (kind != with && kind != without)
      x.fault(key, printable(kind) + " is not known here");
    out.push_back(kind == with);
  }
  if (out.size() != levels)
    x.fault(key, "is not as long as block_out_channels");
  out.resize(levels);
  return out;
}

unet_plan read_plan(config_reader& x) {
  unet_plan out;
  out.channels = x.wholes("block_out_channels");
  const auto levels = out.channels.size();
  out.layers = x.wholes("layers_per_block", levels, 2);
  out.depths = x.wholes("transformer_layers_per_block", levels, 1);
  out.attends_down = read_types(x, "down_block_types", "CrossAttnDownBlock2D",
                                "DownBlock2D", levels);
  out.attends_up =
    read_types(x, "up_block_types", "CrossAttnUpBlock2D", "UpBlock2D", levels);
  out.context = x.whole("cross_attention_dim", 1280);
  out.linear = x.flag("use_linear_projection", false);
  if (!out.channels.empty())
    out.time = x.whole("time_embedding_dim", 4 * out.channels.front());
  for (const auto* key :
       {"class_embed_type", "num_class_embeds", "encoder_hid_dim",
        "encoder_hid_dim_type", "reverse_transformer_layers_per_block"})
    x.expect(key, nullptr);
  x.expect("attention_type", "default");
  x.expect("only_cross_attention", false);
  x.expect("dual_cross_attention", false);
  x.expect("conv_in_kernel", 3);
  x.expect("conv_out_kernel", 3);
  return out;
}

} // namespace

void expect_unet(config_reader& x, tensor_table& to) {
  const auto plan = read_plan(x);
  // Null says that there is none; no word is the default.
  const auto middle = x.names("mid_block_type")
                      ? x.word("mid_block_type")
                      : std::optional<std::string>{"UNetMidBlock2DCrossAttn"};
  if (middle && *middle != "UNetMidBlock2DCrossAttn"
      && *middle != "UNetMidBlock2D")
    x.fault("mid_block_type", printable(*middle) + " is not known here");
  const auto addition = x.word("addition_embed_type");
  if (addition && *addition != "text_time" && *addition != "text")
    x.fault("addition_embed_type", printable(*addition) + " is not known here");
  if (x.why())
    return;
  const auto first = plan.channels.front();
  const auto last = plan.channels.back();
  to.add_conv("conv_in", x.whole("in_channels", 4), first, 3);
  to.add_linear("time_embedding.linear_1", first, plan.time);
  to.add_linear("time_embedding.linear_2", plan.time, plan.time);
  if (x.has("time_cond_proj_dim"))
    to.add("time_embedding.cond_proj.weight",
           {first, x.whole("time_cond_proj_dim")});
  if (addition == "text") {
    add_pooling(to, plan);
  } else if (addition) {
    to.add_linear("add_embedding.linear_1",
                  x.whole("projection_class_embeddings_input_dim"), plan.time);
    to.add_linear("add_embedding.linear_2", plan.time, plan.time);
  }
  add_down(to, plan);
  if (middle) {
    to.add_resnet("mid_block.resnets.0", last, last, plan.time);
    if (*middle == "UNetMidBlock2DCrossAttn") {
      to.add_resnet("mid_block.resnets.1", last, last, plan.time);
      add_attention(to, "mid_block.attentions.0", plan, last,
                    plan.depths.back());
    }
  }
  add_up(to, plan);
  to.add_norm("conv_norm_out", first);
  to.add_conv("conv_out", first, x.whole("out_channels", 4), 3);
}

} // namespace atelier::gpu::detail
