// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/weights.hpp>
#include <atelier/gpu/quality/caption_score.hpp>
#include <atelier/gpu/training/family.hpp>
#include <atelier/gpu/training/loops/data_stream.hpp>
#include <atelier/gpu/training/loops/drawn_tensors.hpp>
#include <atelier/gpu/training/loops/level_store.hpp>
#include <atelier/gpu/training/loops/mixed_precision.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace atelier::gpu {

namespace {

// Prompts of held-out scenes have streams of their own.
constexpr uint64_t held_out_from = uint64_t{1} << 40;

void or_throw(const core::result<void>& x) {
  if (!x)
    throw model_error{x.why()};
}

std::vector<std::shared_ptr<trained_variant>> load_variants(
  const training_config& config, torch::Device where) {
  std::map<training_part, std::shared_ptr<trained_variant>> known;
  std::vector<std::shared_ptr<trained_variant>> out;
  for (const auto& level : level_ladder) {
    auto& x = known[level.variant];
    if (!x && is_trained(config, level.variant))
      x = std::make_shared<trained_variant>(config, level.variant, where);
    out.push_back(x);
  }
  if (std::ranges::all_of(out, [](const auto& x) { return !x; }))
    throw model_error{core::fail(
      core::ec::not_found,
      "no denoiser is trained in {}: train base, small, tiny or turbo first",
      config.folder.string())};
  return out;
}

} // namespace

level_store::level_store(const training_config& config, scene_split split,
                         torch::Device where)
  : config_(config),
    split_(split),
    where_(where),
    variants_(load_variants(config, where)),
    autoencoder_(trained_autoencoder(config, where)),
    store_(open_store()) {}

latent_store level_store::open_store() const {
  std::string maker = fmt::format("seed {}", config_.seed);
  for (size_t i = 0; i < level_ladder.size(); ++i)
    maker += fmt::format(
      ", {} {}", name_of(level_ladder[i]),
      variants_[i]
        ? weights_hash(config_, level_ladder[i].variant).substr(0, 16)
        : "none");
  const auto held_out = split_ == scene_split::held_out;
  auto out = latent_store::open(
    config_.folder
      / fmt::format("levels-{}{}.f16", config_.seed,
                    held_out ? "-held-out" : ""),
    {maker, static_cast<uint32_t>(level_ladder.size()), group});
  if (!out)
    throw model_error{out.why()};
  return std::move(*out);
}

caption level_store::prompt(uint64_t number) const {
  const auto held_out = split_ == scene_split::held_out;
  auto from = data_stream(config_.seed, data_use::prompts,
                          number + (held_out ? held_out_from : 0));
  const auto objects = 1 + static_cast<uint32_t>(number % most_objects);
  return draw_caption(draw_scene(from, {objects, split_}), from);
}

torch::Tensor level_store::measure(const std::vector<caption>& prompts,
                                   const std::vector<uint64_t>& numbers) const {
  const auto n = static_cast<int64_t>(prompts.size());
  std::vector<std::string> texts;
  std::vector<torch::Tensor> noise;
  for (size_t i = 0; i < prompts.size(); ++i) {
    texts.push_back(prompts[i].text);
    auto from = data_stream(config_.seed, data_use::noise,
                            (uint64_t{1} << 50) + numbers[i]);
    noise.push_back(
      draw_noise({1, 4, family_latent_side, family_latent_side}, from));
  }
  const auto levels = static_cast<int64_t>(level_ladder.size());
  auto out = torch::full({n, levels}, std::numeric_limits<float>::quiet_NaN());
  for (int64_t k = 0; k < levels; ++k) {
    const auto at = static_cast<size_t>(k);
    const auto& level = level_ladder[at];
    if (!variants_[at])
      continue;
    const auto steps = config_.scale == training_scale::miniature
                       ? 1 + level.steps / 25
                       : level.steps;
    const auto latents = variants_[at]->draw(
      caption_ids(texts), torch::cat(noise), steps, level.guidance);
    const auto pixels = autoencoder_->decode(latents).to(torch::kFloat32).cpu();
    for (int64_t i = 0; i < n; ++i) {
      const auto picture = to_picture(pixels[i]);
      out[i][k] = score_picture(check_picture(picture.view()),
                                prompts[static_cast<size_t>(i)].says)
                    .objects.share();
    }
  }
  return out;
}

void level_store::keep(uint64_t group_number) {
  if (store_.has(group_number))
    return;
  const torch::NoGradGuard guard;
  const mixed_precision faster{where_};
  std::vector<caption> prompts;
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < group; ++i) {
    numbers.push_back(group_number * group + i);
    prompts.push_back(prompt(numbers.back()));
  }
  const auto found = measure(prompts, numbers).to(torch::kFloat16).contiguous();
  or_throw(store_.write(group_number,
                        {static_cast<const uint16_t*>(found.const_data_ptr()),
                         static_cast<size_t>(found.numel())}));
}

torch::Tensor level_store::read(const std::vector<uint64_t>& numbers) const {
  const auto out = torch::empty({static_cast<int64_t>(numbers.size()),
                                 static_cast<int64_t>(level_ladder.size())},
                                torch::kFloat16);
  auto* to = static_cast<uint16_t*>(out.mutable_data_ptr());
  for (const auto x : numbers) {
    or_throw(store_.read(x, {to, level_ladder.size()}));
    to += level_ladder.size();
  }
  return out.to(torch::kFloat32);
}

} // namespace atelier::gpu
