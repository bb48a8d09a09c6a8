// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/activations.hpp>
#include <atelier/gpu/models/unet/detail/unet_embedding.hpp>
#include <atelier/gpu/models/unet/detail/unet_levels.hpp>
#include <atelier/gpu/models/unet/unet.hpp>

#include <fmt/format.h>

#include <cmath>

namespace atelier::gpu {

namespace {

using namespace detail;

std::vector<down_level> build_down(weights& from, const unet_config& config) {
  std::vector<down_level> out;
  auto in = config.down.front().channels;
  for (size_t i = 0; i < config.down.size(); ++i) {
    out.emplace_back(from, fmt::format("down_blocks.{}", i), config.down[i], in,
                     i + 1 == config.down.size(), config);
    in = config.down[i].channels;
  }
  return out;
}

std::vector<up_level> build_up(weights& from, const unet_config& config) {
  std::vector<up_level> out;
  const auto count = config.up.size();
  auto in = config.up.front().channels;
  for (size_t i = 0; i < count; ++i) {
    const auto last = i + 1 == count;
    out.emplace_back(from, fmt::format("up_blocks.{}", i), config.up[i], in,
                     config.up[last ? i : i + 1].channels, last, config);
    in = config.up[i].channels;
  }
  return out;
}

/// Names the blocks in the order in which they run.
std::vector<block_info> name_blocks(const unet_config& config) {
  std::vector<block_info> out;
  for (size_t i = 0; i < config.down.size(); ++i)
    out.push_back({fmt::format("down_blocks.{}", i)});
  if (config.middle != unet_middle::none)
    out.push_back({"mid_block"});
  for (size_t i = 0; i < config.up.size(); ++i)
    out.push_back({fmt::format("up_blocks.{}", i)});
  return out;
}

} // namespace

struct unet::impl {
  impl(weights& from, const unet_config& with)
    : config(with),
      location(from.where()),
      embedding(from, with),
      in(from, "conv_in",
         {.in = with.in_channels,
          .out = with.down.front().channels,
          .kernel = with.conv_in_kernel,
          .padding = with.conv_in_kernel / 2}),
      down(build_down(from, with)),
      up(build_up(from, with)),
      norm(from, "conv_norm_out", with.down.front().channels, with.norm_groups,
           with.norm_eps),
      out(from, "conv_out",
          {.in = with.down.front().channels,
           .out = with.out_channels,
           .kernel = with.conv_out_kernel,
           .padding = with.conv_out_kernel / 2}) {
    if (with.encoder_hid_dim)
      context.emplace(from, "encoder_hid_proj", *with.encoder_hid_dim,
                      with.cross_attention_dim);
    if (with.middle != unet_middle::none)
      middle.emplace(from, with);
  }

  unet_config config;
  placement location;
  unet_embedding embedding;
  std::optional<linear> context;
  conv in;
  std::vector<down_level> down;
  std::optional<middle_level> middle;
  std::vector<up_level> up;
  group_norm norm;
  conv out;
  std::vector<block_info> blocks;
  uint64_t bytes = 0;
  bool batch_invariant = false;
};

unet::unet(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

unet::~unet() = default;

core::result<std::unique_ptr<unet>> unet::load(const component& from,
                                               const placement& where) {
  auto config = parse_unet_config(from.config, from.config_file);
  if (!config)
    return config.why();
  return with_model_border(from.weights->where(), [&] {
    const c10::InferenceMode guard;
    weights source{from.weights, where};
    auto made = std::make_unique<impl>(source, *config);
    source.expect_all_taken();
    made->batch_invariant = source.is_batch_invariant();
    made->blocks = name_blocks(*config);
    made->bytes = count_weights(*from.weights, where.dtype, made->blocks)
                + source.more_bytes();
    return std::unique_ptr<unet>{new unet{std::move(made)}};
  });
}

torch::Tensor unet::forward(const unet_input& x) const {
  pass_inputs in{x.sample, x.timestep, {}};
  in.conditions = {x.context, x.pooled, x.time_ids, x.guidance_embedding};
  return predict(*this, in);
}

std::span<const block_info> unet::blocks() const {
  return impl_->blocks;
}

pass unet::begin(const pass_inputs& x, activations& state) const {
  const auto& net = *impl_;
  auto sample = x.sample.to(net.location.device, net.location.dtype)
                  .contiguous(torch::MemoryFormat::ChannelsLast);
  if (net.config.center_input_sample)
    sample = sample * 2 - 1;
  const auto context =
    x.conditions[context_condition].to(net.location.device, net.location.dtype);
  pass out{silu_of(net.embedding(x, context)),
           net.context ? kept_or_made(x.kept, &*net.context,
                                      [&] { return (*net.context)(context); })
                       : context,
           sample.size(2), sample.size(3), x.kept};
  state.image = net.in(sample);
  state.skips = {state.image};
  return out;
}

void unet::run(size_t index, const pass& of, activations& state) const {
  const auto& net = *impl_;
  auto& y = state.image;
  if (index < net.down.size()) {
    y = net.down[index](std::move(y), state.skips, of);
    return;
  }
  index -= net.down.size();
  if (net.middle && index == 0) {
    y = (*net.middle)(y, of);
    return;
  }
  y = net.up[index - (net.middle ? 1 : 0)](std::move(y), state.skips, of);
}

torch::Tensor unet::end(const pass&, activations& state) const {
  const auto& net = *impl_;
  return net.out(net.norm(state.image, after_norm::silu)).contiguous();
}

const unet_config& unet::config() const {
  return impl_->config;
}

bool unet::is_batch_invariant() const {
  return impl_->batch_invariant;
}

uint64_t unet::weight_bytes() const {
  return impl_->bytes;
}

torch::Tensor embed_guidance(const torch::Tensor& scales, int64_t dim) {
  const c10::InferenceMode guard;
  const auto half = dim / 2;
  const auto steps =
    torch::arange(
      half,
      torch::TensorOptions().dtype(torch::kFloat32).device(scales.device()))
      .mul(-std::log(10'000.0) / static_cast<double>(half - 1));
  const auto angles = ((scales.to(torch::kFloat32) - 1) * 1000).unsqueeze(1)
                    * steps.exp().unsqueeze(0);
  auto out = torch::cat({angles.sin(), angles.cos()}, 1);
  return dim % 2 == 0 ? out : torch::constant_pad_nd(out, {0, 1});
}

} // namespace atelier::gpu
