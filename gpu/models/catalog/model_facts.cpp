// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/guarded.hpp>
#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/family.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <algorithm>

namespace atelier::gpu {

namespace {

constexpr uint32_t most_side_px = 65'536;

uint64_t count_parameters(const component& from) {
  uint64_t n = 0;
  for (const auto& name : from.weights->names())
    if (const auto x = from.weights->find(name))
      n += x->bytes.size() / bytes_of(x->type);
  return n;
}

core::result<void> check_preview(const model_files& model,
                                 const autoencoder_config& vae) {
  if (!model.preview)
    return {};
  if (auto good = detail::check_network(*model.preview); !good)
    return good;
  const auto small = read_autoencoder_config(*model.preview);
  if (!small)
    return small.why();
  if (small->latent_channels != vae.latent_channels
      || small->factor() != vae.factor())
    return core::fail(core::ec::bad_config,
                      "{}: its latents have {} channels and the factor {}, "
                      "those of the autoencoder {} and {}",
                      model.preview->config_file, small->latent_channels,
                      small->factor(), vae.latent_channels, vae.factor());
  return {};
}

} // namespace

core::result<model_facts> facts_of(const model_files& model) {
  model_facts out;
  const auto denoiser = facts_by_family(model);
  if (!denoiser)
    return denoiser.why();
  const auto vae = read_autoencoder_config(model.vae);
  if (!vae)
    return vae.why();
  out.latent_factor = vae->factor();
  out.samples_source = vae->kind != autoencoder_kind::tiny;
  out.latent_channels = static_cast<uint32_t>(vae->latent_channels);
  const auto side = denoiser->latent_side;
  if (side > most_side_px / out.latent_factor)
    return core::fail(core::ec::bad_config, "{}: sample_size {} outside 1..{}",
                      model.denoiser.config_file, side,
                      most_side_px / out.latent_factor);
  out.native_px = native_extent(*denoiser, out.latent_factor);
  out.traits = model.traits;
  out.embeds_guidance = denoiser->embeds_guidance;
  auto schedule = parse_scheduler(model.scheduler, model.scheduler_file);
  if (!schedule)
    return schedule.why();
  out.schedule = *std::move(schedule);
  std::vector<const component*> parts{&model.denoiser, &model.vae};
  for (const auto* part : {&model.text_encoder, &model.text_encoder_2})
    if (*part) {
      parts.push_back(&**part);
      // A host's family may encode texts by something else.
      if (const auto text = read_clip_text_config(**part)) {
        const auto layers = static_cast<uint32_t>(text->layers);
        out.text_layers =
          out.text_layers == 0 ? layers : std::min(out.text_layers, layers);
      }
    }
  for (const auto* part : parts) {
    if (auto good = detail::check_network(*part); !good)
      return good.why();
    out.parameters += count_parameters(*part);
  }
  if (auto good = check_preview(model, *vae); !good)
    return good.why();
  out.denoiser_parameters = count_parameters(model.denoiser);
  out.guidance = model.pipeline->guidance;
  out.steps = model.pipeline->steps;
  out.lcm_steps = model.pipeline->lcm_steps;
  return out;
}

} // namespace atelier::gpu
