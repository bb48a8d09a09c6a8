// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/checkpoint.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/denoiser_data.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/mixed_precision.hpp>
#include <atelier/training/loops/shapes.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace atelier::gpu {

namespace {

constexpr size_t batches_ahead = 8;

constexpr int64_t latent_elements = 4 * family_latent_side * family_latent_side;

// Returns the default plan, or a smaller one for tests.
denoiser_plan plan_of(training_scale scale) {
  denoiser_plan out;
  if (scale == training_scale::miniature) {
    out.batch = 4;
    out.first_scenes = 8;
    out.lag = batches_ahead;
  }
  return out;
}

} // namespace

std::filesystem::path trained_weights(const training_config& config,
                                      training_part part) {
  const std::string name{to_string(part)};
  auto out = config.folder / name / "weights.safetensors";
  if (!std::filesystem::exists(out))
    throw model_error{core::fail(core::ec::not_found,
                                 "{} is missing: train {} first", out.string(),
                                 name)};
  return out;
}

void read_network(torch::nn::Module& into, const std::filesystem::path& file,
                  const std::string& prefix) {
  named_tensors tensors;
  for (const auto& x : into.named_parameters())
    tensors.emplace_back(prefix + x.key(), x.value());
  or_throw(read_tensors(file, tensors));
}

denoiser_data::denoiser_data(const training_config& config, torch::Device where)
  : config_(config),
    where_(where),
    plan_(plan_of(config.scale)),
    autoencoder_(
      std::make_shared<autoencoder_net>(autoencoder_shape(config.scale))),
    store_(open_store()) {
  read_network(*autoencoder_, trained_weights(config, training_part::vae));
  autoencoder_->to(where);
  for (auto& x : autoencoder_->parameters())
    x.set_requires_grad(false);
}

// A store has latents of only one autoencoder, seed and way to draw scenes.
latent_store denoiser_data::open_store() const {
  std::ifstream in{trained_weights(config_, training_part::vae),
                   std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  auto out = latent_store::open(
    config_.folder / fmt::format("latents-{}.f16", config_.seed),
    {latents_maker(config_.seed, plan_, core::sha256_hex(bytes)),
     static_cast<uint32_t>(latent_elements), plan_.scenes_a_step});
  if (!out)
    throw model_error{out.why()};
  return std::move(*out);
}

void denoiser_data::keep_latents(uint64_t group) {
  if (store_.has(group))
    return;
  const torch::NoGradGuard guard;
  const mixed_precision faster{where_};
  std::vector<scene> scenes;
  for (uint64_t i = 0; i < plan_.scenes_a_step; ++i)
    scenes.push_back(
      latent_scene(config_.seed, group * plan_.scenes_a_step + i, plan_));
  const auto latents =
    autoencoder_->encode(draw_scenes(scenes, family_side).to(where_))
      .mean.to(torch::kFloat16)
      .cpu()
      .contiguous();
  or_throw(
    store_.write(group, {static_cast<const uint16_t*>(latents.const_data_ptr()),
                         static_cast<size_t>(latents.numel())}));
}

void denoiser_data::begin(uint64_t first) {
  // Latents of earlier steps may have been lost when a process ended.
  for (uint64_t i = 0; i < groups_at(plan_, first); ++i)
    keep_latents(i);
  batches_ = std::make_unique<batch_queue<denoiser_batch>>(
    [this](uint64_t step) {
      const auto groups = groups_at(plan_, step + 1);
      if (groups > groups_at(plan_, step))
        keep_latents(groups - 1);
      return draw_denoiser_batch(config_.seed, step, plan_);
    },
    first, config_.data_threads, batches_ahead);
}

denoiser_tensors denoiser_data::draw(const step_place& at) {
  const auto batch = batches_->next();
  const auto n = static_cast<int64_t>(plan_.batch);
  const auto latents = torch::empty(
    {n, 4, family_latent_side, family_latent_side}, torch::kFloat16);
  auto* to = static_cast<uint16_t*>(latents.mutable_data_ptr());
  for (const auto number : batch.scenes) {
    or_throw(store_.read(number, {to, size_t{latent_elements}}));
    to += latent_elements;
  }
  denoiser_tensors out;
  out.latents = latents.to(where_).to(torch::kFloat32);
  out.ids = torch::tensor(batch.ids, torch::kInt64).view({n, -1}).to(where_);
  out.timesteps = torch::tensor(batch.timesteps, torch::kInt64).to(where_);
  auto from = data_stream(config_.seed, data_use::noise, at.step);
  out.noise = draw_noise(out.latents.sizes(), from).to(where_);
  return out;
}

void denoiser_data::add_to(measured_denoiser& what) {
  what.encode = [this](const torch::Tensor& x) {
    return autoencoder_->encode(x).mean;
  };
  what.decode = [this](const torch::Tensor& x) {
    return autoencoder_->decode(x);
  };
}

denoiser_measurement denoiser_data::measurement(
  const step_place& at, const std::filesystem::path& folder) const {
  denoiser_measurement out;
  out.seed = config_.seed;
  out.device = where_;
  out.threads = where_.is_cpu() ? std::max(config_.threads, 1u) : 1;
  out.sheet = folder / fmt::format("sheet-{}.png", at.step);
  if (config_.scale == training_scale::miniature) {
    out.losses = 4;
    out.drawn = 2;
    out.steps = 2;
  }
  return out;
}

} // namespace atelier::gpu
