// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/training/caption.hpp>
#include <atelier/gpu/training/draw_scene.hpp>
#include <atelier/gpu/training/family.hpp>
#include <atelier/gpu/training/loops/data_stream.hpp>
#include <atelier/gpu/training/loops/denoiser_batch.hpp>
#include <atelier/gpu/training/vocabulary.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

namespace {

constexpr double train_timesteps = 1000;

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
  const auto of_ten = from.below(10);
  const auto objects = of_ten < plan.single_of_ten                      ? 1u
                     : of_ten < plan.single_of_ten + plan.double_of_ten ? 2u
                                                                        : 3u;
  return draw_scene(from, {objects, scene_split::training});
}

denoiser_batch draw_denoiser_batch(uint64_t seed, uint64_t step,
                                   const denoiser_plan& plan) {
  auto from = data_stream(seed, data_use::samples, step);
  denoiser_batch out;
  const auto known = scenes_at(plan, step);
  for (uint32_t i = 0; i < plan.batch; ++i) {
    const auto number = from.below(known);
    out.scenes.push_back(number);
    const auto said =
      from.uniform() < plan.uncaptioned
        ? std::string{}
        : draw_caption(latent_scene(seed, number, plan), from).text;
    const auto ids = encode_caption(said, family_tokens).ids;
    out.ids.insert(out.ids.end(), ids.begin(), ids.end());
    const auto dense = from.uniform() < plan.dense;
    // One in each part of the range: batches differ less than by chance.
    const auto u = (i + from.uniform()) / plan.batch;
    const auto share = dense ? std::pow(u, plan.exponent) : u;
    out.timesteps.push_back(
      std::min(static_cast<int64_t>(share * train_timesteps), int64_t{999}));
  }
  return out;
}

} // namespace atelier::gpu
