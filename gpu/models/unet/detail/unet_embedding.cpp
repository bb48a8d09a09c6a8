// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/unet/detail/unet_embedding.hpp>
#include <atelier/gpu/models/unet/unet.hpp>

#include <vector>

namespace atelier::gpu::detail {

pooled_context::pooled_context(weights& from, const std::string& name,
                               int64_t in, int64_t out, int64_t heads)
  : heads_(heads),
    before_(from, name + ".norm1", in),
    position_(from.take(name + ".pool.positional_embedding", {1, in})),
    q_(from, name + ".pool.q_proj", in, in),
    k_(from, name + ".pool.k_proj", in, in),
    v_(from, name + ".pool.v_proj", in, in),
    project_(from, name + ".proj", in, out),
    after_(from, name + ".norm2", out) {}

torch::Tensor pooled_context::operator()(const torch::Tensor& context) const {
  // One row after another, as the order of LibTorch's sums may depend on their
  // number.
  std::vector<torch::Tensor> rows;
  for (int64_t i = 0; i < context.size(0); ++i)
    rows.push_back(of_row(context.narrow(0, i, 1)));
  return torch::cat(rows);
}

torch::Tensor pooled_context::of_row(const torch::Tensor& context) const {
  const auto x = before_(context);
  const auto summary = x.mean(1, true) + position_;
  const auto all = torch::cat({summary, x}, 1);
  const auto split = [&](const torch::Tensor& y) {
    return y.unflatten(2, {heads_, -1}).transpose(1, 2);
  };
  const auto seen = torch::scaled_dot_product_attention(
    split(q_(summary)), split(k_(all)), split(v_(all)));
  return after_(project_(seen.flatten(1)));
}

unet_embedding::unet_embedding(weights& from, const unet_config& config)
  : config_(config),
    where_(from.where()),
    time_(from, "time_embedding", config.down.front().channels,
          config.time_embedding_dim) {
  const auto out = config.time_embedding_dim;
  if (config.time_cond_proj_dim)
    guidance_.emplace(from, "time_embedding.cond_proj",
                      *config.time_cond_proj_dim, config.down.front().channels,
                      false);
  if (config.addition == unet_addition::text_time)
    added_.emplace(from, "add_embedding", config.addition_input_dim, out);
  if (config.addition == unet_addition::text)
    pooled_.emplace(from, "add_embedding",
                    config.encoder_hid_dim.value_or(config.cross_attention_dim),
                    out, config.addition_heads);
}

torch::Tensor unet_embedding::operator()(const pass_inputs& x,
                                         const torch::Tensor& context) const {
  const auto numbers = [this](const torch::Tensor& of, int64_t dim) {
    return embed_numbers(of.to(where_.device), dim, config_.flip_sin_to_cos,
                         config_.freq_shift);
  };
  const auto time =
    numbers(x.timestep, config_.down.front().channels).to(where_.dtype);
  const auto& guidance = x.conditions[guidance_condition];
  if (guidance_ && guidance.defined())
    guidance_->add_to(time, guidance.to(where_.device, where_.dtype));
  auto out = time_(time);
  if (added_)
    out.add_(kept_or_made(x.kept, &*added_, [&] {
      const auto& sizes = x.conditions[time_ids_condition];
      const auto ids = numbers(sizes.flatten(), config_.addition_time_dim)
                         .reshape({sizes.size(0), -1});
      const auto& pooled = x.conditions[pooled_condition];
      const auto all =
        torch::cat({pooled.to(where_.device, torch::kFloat32), ids}, 1);
      return (*added_)(all.to(where_.dtype));
    }));
  if (pooled_)
    out.add_(
      kept_or_made(x.kept, &*pooled_, [&] { return (*pooled_)(context); }));
  return out;
}

} // namespace atelier::gpu::detail
