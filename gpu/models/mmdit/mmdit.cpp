// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/activations.hpp>
#include <atelier/gpu/models/layers/embeddings.hpp>
#include <atelier/gpu/models/mmdit/detail/joint_block.hpp>
#include <atelier/gpu/models/mmdit/mmdit.hpp>

#include <fmt/format.h>

#include <utility>

namespace atelier::gpu {

namespace {

using namespace detail;

constexpr int64_t timestep_width = 256;

std::vector<joint_block> build_blocks(weights& from, const mmdit_config& config,
                                      std::vector<block_info>& names) {
  std::vector<joint_block> out;
  for (int64_t i = 0; i < config.layers; ++i) {
    names.push_back({fmt::format("transformer_blocks.{}", i)});
    out.emplace_back(from, names.back().name, config, i + 1 == config.layers);
  }
  return out;
}

} // namespace

struct mmdit::impl {
  impl(weights& from, const mmdit_config& with)
    : config(with),
      location(from.where()),
      patches(from, "pos_embed.proj",
              {.in = with.channels,
               .out = with.width(),
               .kernel = with.patch_size,
               .stride = with.patch_size,
               .padding = 0}),
      positions(from
                  .take("pos_embed.pos_embed",
                        {1, with.most_side * with.most_side, with.width()})
                  .view({with.most_side, with.most_side, with.width()})),
      time(from, "time_text_embed.timestep_embedder", timestep_width,
           with.width()),
      pooled(from, "time_text_embed.text_embedder", with.pooled_width,
             with.width()),
      text(from, "context_embedder", with.text_width, with.width()),
      blocks(build_blocks(from, with, names)),
      norm(from, "norm_out.linear", with.width(), 2),
      out(from, "proj_out", with.width(),
          with.patch_size * with.patch_size * with.channels) {}

  /// Returns the middle of the stored positions: [h * w, width].
  torch::Tensor positions_of(int64_t h, int64_t w) const {
    const auto top = (config.most_side - h) / 2;
    const auto left = (config.most_side - w) / 2;
    return positions.narrow(0, top, h).narrow(1, left, w).flatten(0, 1);
  }

  mmdit_config config;
  placement location;
  std::vector<block_info> names;
  conv patches;
  torch::Tensor positions;
  embedding_layers time;
  embedding_layers pooled;
  linear text;
  std::vector<joint_block> blocks;
  modulation norm;
  linear out;
  uint64_t bytes = 0;
  bool batch_invariant = false;
};

mmdit::mmdit(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

mmdit::~mmdit() = default;

core::result<std::unique_ptr<mmdit>> mmdit::load(const component& from,
                                                 const placement& where) {
  auto config = parse_mmdit_config(from.config, from.config_file);
  if (!config)
    return config.why();
  return with_model_border(from.weights->where(), [&] {
    const c10::InferenceMode guard;
    weights source{from.weights, where};
    auto made = std::make_unique<impl>(source, *config);
    source.expect_all_taken();
    made->batch_invariant = source.is_batch_invariant();
    made->bytes = count_weights(*from.weights, where.dtype, made->names)
                + source.more_bytes();
    return std::unique_ptr<mmdit>{new mmdit{std::move(made)}};
  });
}

const mmdit_config& mmdit::config() const {
  return impl_->config;
}

std::span<const block_info> mmdit::blocks() const {
  return impl_->names;
}

pass mmdit::begin(const pass_inputs& x, activations& state) const {
  const auto& net = *impl_;
  const auto to_place = [&](const torch::Tensor& of) {
    return of.to(net.location.device, net.location.dtype);
  };
  const auto sample =
    to_place(x.sample).contiguous(torch::MemoryFormat::ChannelsLast);
  const auto side = net.config.patch_size;
  pass out;
  out.height = sample.size(2);
  out.width = sample.size(3);
  state.image = net.patches(sample).permute({0, 2, 3, 1}).flatten(1, 2)
              + net.positions_of(out.height / side, out.width / side);
  const auto timestep =
    embed_numbers(x.timestep.to(net.location.device), timestep_width, true, 0);
  const auto pooled = kept_or_made(x.kept, &net.pooled, [&] {
    return net.pooled(to_place(x.conditions[pooled_text_condition]));
  });
  out.embedding = silu_of(net.time(timestep.to(net.location.dtype)) + pooled);
  out.context = kept_or_made(x.kept, &net.text, [&] {
    return net.text(to_place(x.conditions[text_condition]));
  });
  out.kept = x.kept;
  state.text = out.context;
  return out;
}

void mmdit::run(size_t index, const pass& of, activations& state) const {
  impl_->blocks[index](of, state);
}

torch::Tensor mmdit::end(const pass& of, activations& state) const {
  const auto& net = *impl_;
  const auto side = net.config.patch_size;
  const auto parts = net.norm.of(of);
  const auto y = net.out(modulated(state.image, parts[0], parts[1]));
  // Permutes [n, h, w, p, p, c] to [n, c, h, p, w, p].
  return y
    .view({y.size(0), of.height / side, of.width / side, side, side,
           net.config.channels})
    .permute({0, 5, 1, 3, 2, 4})
    .reshape({y.size(0), net.config.channels, of.height, of.width});
}

bool mmdit::is_batch_invariant() const {
  return impl_->batch_invariant;
}

uint64_t mmdit::weight_bytes() const {
  return impl_->bytes;
}

} // namespace atelier::gpu
