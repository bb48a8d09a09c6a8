// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/level_store.hpp>
#include <atelier/training/loops/mixed_precision.hpp>
#include <atelier/training/quality/caption_score.hpp>
#include <atelier/training/scene_digest.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace atelier::gpu {

namespace {

// First stream of the prompts of held-out scenes.
constexpr uint64_t held_out_from = uint64_t{1} << 40;

// First stream of the noise of the levels' images.
constexpr uint64_t levels_from = uint64_t{1} << 50;

} // namespace

std::shared_ptr<const ladder_networks> load_ladder(
  const training_config& config, torch::Device where) {
  struct known_variant {
    std::shared_ptr<trained_variant> network;
    std::string hash = "none";
  };

  std::map<training_part, known_variant> known;
  auto out = std::make_shared<ladder_networks>();
  for (const auto& level : level_ladder) {
    auto& x = known[level.variant];
    if (!x.network && is_trained(config, level.variant))
      x = {std::make_shared<trained_variant>(config, level.variant, where),
           weights_hash(config, level.variant).substr(0, 16)};
    out->variants.push_back(x.network);
    out->identity += fmt::format(", {} {}", name_of(level), x.hash);
  }
  if (std::ranges::all_of(out->variants, [](const auto& x) { return !x; }))
    throw model_error{core::fail(
      core::ec::not_found,
      "no denoiser is trained in {}: train base, small, tiny or turbo first",
      config.folder.string())};
  out->autoencoder = trained_autoencoder(config, where);
  return out;
}

level_store::level_store(const training_config& config, scene_split split,
                         torch::Device where,
                         std::shared_ptr<const ladder_networks> networks)
  : config_(config),
    split_(split),
    where_(where),
    networks_(std::move(networks)),
    store_(open_store()) {}

latent_store level_store::open_store() const {
  std::vector<std::string> prompts;
  for (uint64_t i = 0; i < digested_scenes; ++i)
    prompts.push_back(prompt(i).text);
  const auto maker =
    fmt::format("seed {}{}, prompts {}", config_.seed, networks_->identity,
                scene_digest({}, prompts));
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
  texts.reserve(prompts.size());
  for (const auto& x : prompts)
    texts.push_back(x.text);
  auto streams = numbers;
  for (auto& x : streams)
    x += levels_from;
  const auto noise = draw_noise({1, 4, family_latent_side, family_latent_side},
                                config_.seed, streams);
  const auto levels = static_cast<int64_t>(level_ladder.size());
  auto out = torch::full({n, levels}, std::numeric_limits<float>::quiet_NaN());
  for (int64_t k = 0; k < levels; ++k) {
    const auto at = static_cast<size_t>(k);
    const auto& level = level_ladder[at];
    if (!networks_->variants[at])
      continue;
    const auto steps = config_.scale == training_scale::miniature
                       ? 1 + level.steps / 25
                       : level.steps;
    const auto latents = networks_->variants[at]->draw(
      caption_ids(texts), noise, steps, level.guidance);
    const auto pixels =
      networks_->autoencoder->decode(latents).to(torch::kFloat32).cpu();
    for (int64_t i = 0; i < n; ++i) {
      const auto image = to_image(pixels[i]);
      out[i][k] = score_image(check_image(image.view()),
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
