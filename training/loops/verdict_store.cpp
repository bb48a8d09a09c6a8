// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/denoiser_data.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/mixed_precision.hpp>
#include <atelier/training/loops/shapes.hpp>
#include <atelier/training/loops/verdict_store.hpp>
#include <atelier/training/quality/caption_score.hpp>
#include <atelier/training/scene_digest.hpp>
#include <atelier/training/wrong_caption.hpp>

#include <array>

namespace atelier::gpu {

namespace {

// First streams of the drawings' noise and of held-out scenes.
constexpr uint64_t noise_from = uint64_t{1} << 48;
constexpr uint64_t held_out_from = uint64_t{1} << 40;

} // namespace

light_drawing lightest_trained(const training_config& config) {
  constexpr std::array<light_drawing, 4> known{{{training_part::turbo, 4, 1},
                                                {training_part::tiny, 8, 2},
                                                {training_part::small, 8, 2},
                                                {training_part::base, 8, 2}}};
  for (auto x : known)
    if (is_trained(config, x.variant)) {
      if (config.scale == training_scale::miniature)
        x.steps = 1;
      return x;
    }
  throw model_error{core::fail(
    core::ec::not_found,
    "no denoiser is trained in {}: train turbo, tiny, small or base first",
    config.folder.string())};
}

std::shared_ptr<const verdict_networks> load_verdict_networks(
  const training_config& config, torch::Device where) {
  auto out = std::make_shared<verdict_networks>();
  out->drawing = lightest_trained(config);
  out->variant =
    std::make_unique<trained_variant>(config, out->drawing.variant, where);
  out->autoencoder = trained_autoencoder(config, where);
  out->judge = std::make_shared<discriminator_net>(
    discriminator_shape(config.scale),
    at::detail::createCPUGenerator(config.seed));
  read_network(out->judge->towers(),
               trained_weights(config, training_part::scorer));
  out->judge->to(where);
  out->identity =
    fmt::format("{} steps at {} of {}, {}, {}", out->drawing.steps,
                out->drawing.guidance, to_string(out->drawing.variant),
                weights_hash(config, out->drawing.variant).substr(0, 16),
                weights_hash(config, training_part::scorer).substr(0, 16));
  return out;
}

verdict_store::verdict_store(const training_config& config, scene_split split,
                             torch::Device where,
                             std::shared_ptr<const verdict_networks> networks)
  : config_(config),
    split_(split),
    where_(where),
    networks_(std::move(networks)),
    store_(open_store()) {}

latent_store verdict_store::open_store() const {
  std::vector<scene> scenes;
  std::vector<std::string> captions;
  for (uint64_t i = 0; i < digested_scenes; ++i) {
    const auto x = plan(i, is_drawn(i / group));
    scenes.push_back(x.content);
    captions.push_back(x.said.text);
  }
  const auto held_out = split_ == scene_split::held_out;
  auto out = latent_store::open(
    config_.folder
      / fmt::format("verdicts-{}{}.f16", config_.seed,
                    held_out ? "-held-out" : ""),
    {fmt::format("seed {}, {}, scenes {}", config_.seed, networks_->identity,
                 scene_digest(scenes, captions)),
     static_cast<uint32_t>(networks_->judge->evidence_size() + 1), group});
  if (!out)
    throw model_error{out.why()};
  return std::move(*out);
}

verdict_store::image_plan verdict_store::plan(uint64_t number,
                                              bool drawn) const {
  const auto held_out = split_ == scene_split::held_out;
  auto from = data_stream(config_.seed, data_use::drawings,
                          number + (held_out ? held_out_from : 0));
  const auto objects = 1 + static_cast<uint32_t>(number % most_objects);
  image_plan out;
  out.content = draw_scene(from, {objects, split_});
  out.said.says = describe(out.content, from);
  const auto words = from;
  out.said.text = word(out.said.says, from);
  if (drawn || from.below(2) == 0)
    return out;
  // A caption for which no wrong word is found is rare and stays right.
  for (auto& x :
       draw_wrong_captions(out.said.says, out.content, words, from, 1))
    out.said = {std::move(x.text), std::move(x.says)};
  return out;
}

void verdict_store::make(uint64_t group_number) {
  const torch::NoGradGuard guard;
  const mixed_precision faster{where_};
  const auto drawn = is_drawn(group_number);
  std::vector<scene> scenes;
  std::vector<caption> said;
  std::vector<std::string> texts;
  std::vector<uint64_t> streams;
  for (uint64_t i = 0; i < group; ++i) {
    const auto number = group_number * group + i;
    auto x = plan(number, drawn);
    scenes.push_back(std::move(x.content));
    texts.push_back(x.said.text);
    said.push_back(std::move(x.said));
    streams.push_back(noise_from + number
                      + (split_ == scene_split::held_out ? held_out_from : 0));
  }
  const auto ids = caption_ids(texts);
  torch::Tensor pixels;
  if (drawn) {
    const auto noise = draw_noise(
      {1, 4, family_latent_side, family_latent_side}, config_.seed, streams);
    pixels =
      networks_->autoencoder
        ->decode(networks_->variant->draw(ids, noise, networks_->drawing.steps,
                                          networks_->drawing.guidance))
        .to(torch::kFloat32)
        .clamp(-1, 1);
  } else
    pixels = draw_scenes(scenes, family_side).to(where_);
  auto quality = torch::empty({int64_t{group}, 1});
  for (int64_t i = 0; i < int64_t{group}; ++i) {
    const auto image = to_image(pixels[i].cpu());
    quality[i][0] =
      score_image(check_image(image.view()), said[static_cast<size_t>(i)].says)
        .objects.share();
  }
  const auto found = at::cat({networks_->judge->evidence(pixels, ids.to(where_))
                                .to(torch::kFloat32)
                                .cpu(),
                              quality},
                             1)
                       .to(torch::kFloat16)
                       .contiguous();
  or_throw(store_.write(group_number,
                        {static_cast<const uint16_t*>(found.const_data_ptr()),
                         static_cast<size_t>(found.numel())}));
}

void verdict_store::keep(uint64_t count) {
  for (auto i = kept_; i < count; ++i)
    if (!store_.has(i))
      make(i);
  kept_ = std::max(kept_, count);
}

verdicts verdict_store::read(const std::vector<uint64_t>& numbers) const {
  const auto columns = networks_->judge->evidence_size() + 1;
  const auto found = torch::empty(
    {static_cast<int64_t>(numbers.size()), columns}, torch::kFloat16);
  auto* to = static_cast<uint16_t*>(found.mutable_data_ptr());
  for (const auto x : numbers) {
    or_throw(store_.read(x, {to, static_cast<size_t>(columns)}));
    to += columns;
  }
  const auto all = found.to(torch::kFloat32);
  return {all.slice(1, 0, columns - 1), all.select(1, columns - 1)};
}

} // namespace atelier::gpu
