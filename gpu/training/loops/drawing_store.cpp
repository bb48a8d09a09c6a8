// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/weights.hpp>
#include <atelier/gpu/training/draw_scene.hpp>
#include <atelier/gpu/training/family.hpp>
#include <atelier/gpu/training/loops/data_stream.hpp>
#include <atelier/gpu/training/loops/drawing_store.hpp>
#include <atelier/gpu/training/loops/drawn_tensors.hpp>

#include <array>

namespace atelier::gpu {

namespace {

// Noise of drawings has streams of its own.
constexpr uint64_t drawings_from = uint64_t{1} << 48;

constexpr int64_t latent_elements = 4 * family_latent_side * family_latent_side;

latent_store open_store(const training_config& config,
                        const light_drawing& how) {
  auto out = latent_store::open(
    config.folder / fmt::format("drawings-{}.f16", config.seed),
    {fmt::format("seed {}, {} steps at {} of {}, {}", config.seed, how.steps,
                 how.guidance, to_string(how.variant),
                 weights_hash(config, how.variant)),
     static_cast<uint32_t>(latent_elements), drawing_store::group});
  if (!out)
    throw model_error{out.why()};
  return std::move(*out);
}

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

drawing_store::drawing_store(const training_config& config, torch::Device where)
  : config_(config),
    how_(lightest_trained(config)),
    variant_(config, how_.variant, where),
    store_(open_store(config, how_)) {}

caption drawing_store::caption_of(uint64_t number) const {
  auto from = data_stream(config_.seed, data_use::drawings, number);
  return draw_caption(draw_scene(from), from);
}

torch::Tensor drawing_store::draw(const std::vector<std::string>& captions,
                                  const std::vector<uint64_t>& numbers) const {
  auto streams = numbers;
  for (auto& x : streams)
    x += drawings_from;
  const auto noise = draw_noise({1, 4, family_latent_side, family_latent_side},
                                config_.seed, streams);
  return variant_.draw(caption_ids(captions), noise, how_.steps, how_.guidance)
    .to(torch::kFloat16)
    .cpu()
    .contiguous();
}

void drawing_store::keep(uint64_t count) {
  for (auto i = kept_; i < count; ++i) {
    if (store_.has(i))
      continue;
    std::vector<std::string> captions;
    std::vector<uint64_t> numbers;
    for (uint64_t k = 0; k < group; ++k) {
      numbers.push_back(i * group + k);
      captions.push_back(caption_of(numbers.back()).text);
    }
    const auto latents = draw(captions, numbers);
    or_throw(
      store_.write(i, {static_cast<const uint16_t*>(latents.const_data_ptr()),
                       static_cast<size_t>(latents.numel())}));
  }
  kept_ = std::max(kept_, count);
}

torch::Tensor drawing_store::read(const std::vector<uint64_t>& numbers) const {
  const auto out = torch::empty({static_cast<int64_t>(numbers.size()), 4,
                                 family_latent_side, family_latent_side},
                                torch::kFloat16);
  auto* to = static_cast<uint16_t*>(out.mutable_data_ptr());
  for (const auto x : numbers) {
    or_throw(store_.read(x, {to, size_t{latent_elements}}));
    to += latent_elements;
  }
  return out;
}

} // namespace atelier::gpu
