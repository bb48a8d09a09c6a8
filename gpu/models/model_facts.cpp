// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/model_facts.hpp>

#include <nlohmann/json.hpp>

#include <optional>

namespace atelier::gpu {

namespace {

using json = nlohmann::json;

constexpr uint32_t most_side_px = 65'536;

core::result<json> parse_object(const component& from) {
  auto x = json::parse(from.config, nullptr, false);
  if (!x.is_object())
    return core::fail(core::ec::bad_config, "{}: not a JSON object",
                      from.config_file);
  return x;
}

// Returns a whole number of 1..most, `otherwise` where the key is not there.
core::result<uint32_t> whole(const component& from, const json& x,
                             const char* key, uint32_t most,
                             uint32_t otherwise) {
  const auto at = x.find(key);
  if (at == x.end() || at->is_null())
    return otherwise;
  if (!at->is_number_unsigned() || at->get<uint64_t>() < 1
      || at->get<uint64_t>() > most)
    return core::fail(core::ec::bad_config, "{}: {} {} outside 1..{}",
                      from.config_file, key, at->dump(), most);
  return at->get<uint32_t>();
}

uint64_t count_parameters(const component& from) {
  uint64_t n = 0;
  for (const auto& name : from.weights->names())
    if (const auto x = from.weights->find(name))
      n += x->bytes.size() / bytes_of(x->type);
  return n;
}

// Every level of an autoencoder but the last halves the sides.
uint32_t factor_of(const json& vae) {
  for (const auto* key : {"block_out_channels", "decoder_block_out_channels"})
    if (const auto at = vae.find(key);
        at != vae.end() && at->is_array() && !at->empty() && at->size() <= 8)
      return 1u << (at->size() - 1);
  return 8;
}

} // namespace

core::result<model_facts> facts_of(const model_files& model) {
  model_facts out;
  const auto unet = parse_object(model.unet);
  if (!unet)
    return unet.why();
  const auto vae = parse_object(model.vae);
  if (!vae)
    return vae.why();
  out.latent_factor = factor_of(*vae);
  const auto channels = whole(model.vae, *vae, "latent_channels", 1024, 4);
  if (!channels)
    return channels.why();
  out.latent_channels = *channels;
  const auto side = whole(model.unet, *unet, "sample_size",
                          most_side_px / out.latent_factor, 64);
  if (!side)
    return side.why();
  out.native_px = {*side * out.latent_factor, *side * out.latent_factor};
  auto schedule = parse_scheduler(model.scheduler, model.scheduler_file);
  if (!schedule)
    return schedule.why();
  out.schedule = *std::move(schedule);
  out.denoiser_parameters = count_parameters(model.unet);
  out.parameters = out.denoiser_parameters + count_parameters(model.vae);
  for (const auto& part : {model.text_encoder, model.text_encoder_2})
    if (part)
      out.parameters += count_parameters(*part);
  switch (model.kind) {
    case pipeline_kind::stable_diffusion:
      break;
    case pipeline_kind::stable_diffusion_xl:
    case pipeline_kind::stable_diffusion_xl_refiner:
      out.guidance = 5;
      break;
    case pipeline_kind::latent_consistency:
      out.guidance = 8.5;
      out.steps = 4;
      break;
  }
  return out;
}

} // namespace atelier::gpu
