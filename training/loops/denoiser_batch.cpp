// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/denoiser_batch.hpp>
#include <atelier/training/scene_digest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

namespace {

constexpr double train_timesteps = 1000;

// By default, half of the scenes have a single object, so that two tries
// suffice on average.
constexpr int tries_for_single = 100;

uint32_t draw_objects(core::philox& from, const denoiser_plan& plan) {
  const auto of_ten = from.below(10);
  return of_ten < plan.single_of_ten                      ? 1
       : of_ten < plan.single_of_ten + plan.double_of_ten ? 2
                                                          : 3;
}

uint64_t draw_scene_number(core::philox& from, uint64_t seed, uint64_t step,
                           const denoiser_plan& plan) {
  const auto known = scenes_at(plan, step);
  auto number = from.below(known);
  if (step < plan.single_steps)
    for (auto i = 0;
         i < tries_for_single && objects_in(seed, number, plan) != 1; ++i)
      number = from.below(known);
  return number;
}

} // namespace

uint64_t groups_at(const denoiser_plan& plan, uint64_t step) {
  const auto first = plan.first_scenes / plan.scenes_a_step;
  const auto most = plan.most_scenes / plan.scenes_a_step;
  return std::min(first + step, most);
}

uint64_t scenes_at(const denoiser_plan& plan, uint64_t step) {
  const auto ready = step > plan.lag ? step - plan.lag : 0;
  return groups_at(plan, ready) * plan.scenes_a_step;
}

scene latent_scene(uint64_t seed, uint64_t number, const denoiser_plan& plan) {
  auto from = data_stream(seed, data_use::latents, number);
  const auto objects = draw_objects(from, plan);
  return draw_scene(from, {objects, scene_split::training});
}

uint32_t objects_in(uint64_t seed, uint64_t number, const denoiser_plan& plan) {
  auto from = data_stream(seed, data_use::latents, number);
  return draw_objects(from, plan);
}

std::string latents_maker(uint64_t seed, const denoiser_plan& plan,
                          std::string_view autoencoder) {
  std::vector<scene> scenes;
  for (uint64_t i = 0; i < digested_scenes; ++i)
    scenes.push_back(latent_scene(seed, i, plan));
  return fmt::format("seed {}, {}, scenes {}", seed, autoencoder,
                     scene_digest(scenes, {}));
}

denoiser_batch draw_denoiser_batch(uint64_t seed, uint64_t step,
                                   const denoiser_plan& plan) {
  auto from = data_stream(seed, data_use::samples, step);
  denoiser_batch out;
  const auto dense_share = step < plan.single_steps ? 1 : plan.dense;
  for (uint32_t i = 0; i < plan.batch; ++i) {
    const auto number = draw_scene_number(from, seed, step, plan);
    out.scenes.push_back(number);
    const auto said =
      from.uniform() < plan.uncaptioned
        ? std::string{}
        : draw_caption(latent_scene(seed, number, plan), from).text;
    const auto ids = encode_caption(said, family_tokens).ids;
    out.ids.insert(out.ids.end(), ids.begin(), ids.end());
    const auto dense = from.uniform() < dense_share;
    // Draws one sample in each part of the range, so that batches differ less
    // than with independent draws.
    const auto u = (i + from.uniform()) / plan.batch;
    const auto share = dense ? std::pow(u, plan.exponent) : u;
    out.timesteps.push_back(
      std::min(static_cast<int64_t>(share * train_timesteps), int64_t{999}));
  }
  return out;
}

} // namespace atelier::gpu
